import {Component, type ReactNode} from 'react';

type Props = {onError(error: unknown): void; children: ReactNode};

/** Draws nothing once something could not be drawn: ink draws a last time when it ends, and would fail at the same. */
export class Boundary extends Component<Props, {failed: boolean}> {
	override state = {failed: false};

	static getDerivedStateFromError() {
		return {failed: true};
	}

	override componentDidCatch(error: unknown): void {
		this.props.onError(error);
	}

	override render(): ReactNode {
		return this.state.failed ? null : this.props.children;
	}
}
