import {editFile} from './edit-file.ts';
import {listFiles} from './list-files.ts';
import {readFile} from './read-file.ts';
import {runCommand} from './run-command.ts';
import {search} from './search.ts';
import type {Tool} from './tool.ts';
import {writeFile} from './write-file.ts';

/** In the order in which the model is told of them. */
export const tools: readonly Tool[] = [readFile, listFiles, search, editFile, writeFile, runCommand];
