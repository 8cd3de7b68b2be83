import {Component, type ReactNode} from 'react';
import {display, wrap} from './display.ts';
import {Lines} from './Line.tsx';
import {theme} from './theme.ts';

type Props = {columns: number; height: number; children: ReactNode};

/** A throw inside is drawn here, and the rest of the screen goes on: what was typed and what runs are not lost for it. */
export class Pane extends Component<Props, {problem: string | null}> {
	override state = {problem: null};

	static getDerivedStateFromError(error: unknown) {
		return {problem: error instanceof Error ? error.message : String(error)};
	}

	override render() {
		const {columns, height, children} = this.props;
		if (this.state.problem === null) return children;
		const text = `This part of the screen cannot be drawn: ${display(this.state.problem)}. The session goes on; /log shows it.`;
		return <Lines rows={wrap([{text, color: theme.bad}], columns)} columns={columns} height={height} />;
	}
}
