// Makes the picture of the README anew: `node test/e2e/picture.ts`, after a build.
import {writeFileSync} from 'node:fs';
import {playDemo, svgOf} from '../helpers/picture.ts';

const {cells} = await playDemo();
writeFileSync(new URL('screen.svg', import.meta.url), svgOf(cells, 'mca'));
