import {Box} from 'ink';
import TextInput from 'ink-text-input';
import type {Question} from '../agent/agent-event.ts';
import {diffLines} from './diff-rows.ts';
import {type Row, type Span, spread, wrap} from './display.ts';
import {type GateAnswer, type GateState, gateAnswers} from './gate-state.ts';
import {Line, Lines} from './Line.tsx';
import {glyph, theme} from './theme.ts';
import {visible} from './visible.ts';

/** What the question is about, in full: the person decides on what is really there. */
export function questionRows(question: Question, columns: number): Row[] {
	if (question.kind === 'steps') {
		return wrap([{text: `This turn has asked the model ${question.steps} times. Go on?`}], columns);
	}
	if (question.kind === 'repeat') {
		const what = `${question.tool} ${visible(question.label)}`;
		return wrap(
			[{text: `${what}: called ${question.times} times in this turn with the same result. Go on?`}],
			columns,
			2,
		);
	}
	const {preview} = question;
	if (preview.kind === 'diff') {
		return diffLines(visible(preview.text).split('\n')).flatMap((line) => wrap(line, columns, 2));
	}
	return visible(preview.text)
		.split('\n')
		.flatMap((line) => wrap([{text: line}], columns, 2));
}

/** How many rows of the preview a prompt of this height shows. */
export function previewHeight(question: Question, columns: number, height: number): number {
	return Math.max(1, Math.min(questionRows(question, columns - 4).length, height - 5));
}

type Props = {
	question: Question;
	state: GateState;
	columns: number;
	/** At most; the prompt takes what it needs. */
	height: number;
	onReason(text: string): void;
	onSendReason(text: string): void;
	onRule(command: string): void;
	onSendRule(): void;
};

export function GatePrompt({question, state, columns, height, onReason, onSendReason, ...rule}: Props) {
	const rows = questionRows(question, columns - 4);
	const shown = previewHeight(question, columns, height);
	const unread = rows.length - Math.max(state.seen, shown);
	const title = question.kind === 'tool' ? titleOf(question) : [{text: 'Go on?', bold: true}];
	const position =
		rows.length > shown
			? [{text: `rows ${state.top + 1} to ${state.top + shown} of ${rows.length}`, dim: true}]
			: [];
	const line = {text: '─'.repeat(columns), color: theme.warn};
	return (
		<Box flexDirection="column" width={columns} flexShrink={0}>
			<Line row={[line]} />
			<Line row={spread([{text: '  '}, ...title], position, columns - 1)} />
			<Box paddingLeft={4}>
				<Lines rows={rows.slice(state.top)} columns={columns - 4} height={shown} />
			</Box>
			<Line row={[]} />
			{state.rule !== null ? (
				<Box>
					<Line row={[{text: '  Always allow: ', bold: true}]} />
					<TextInput value={state.rule.command} onChange={rule.onRule} onSubmit={rule.onSendRule} />
					<Line
						row={[
							{
								text: state.rule.keep ? '   kept for this folder (Tab)' : '   in this session (Tab)',
								dim: true,
							},
						]}
					/>
				</Box>
			) : state.reason === null ? (
				<Line row={answerRow(gateAnswers(question), state.selected, unread)} />
			) : (
				<Box height={1}>
					<Box flexShrink={0}>
						<Line row={[{text: '  No, because: ', bold: true}]} />
					</Box>
					{/* Of a reason that is longer than its row the end is shown, where the typing is. */}
					<Box height={1} overflow="hidden" flexDirection="column" justifyContent="flex-end">
						<Box flexShrink={0}>
							<TextInput value={state.reason} onChange={onReason} onSubmit={onSendReason} />
						</Box>
					</Box>
				</Box>
			)}
		</Box>
	);
}

function titleOf(question: Extract<Question, {kind: 'tool'}>): Span[] {
	const verb =
		question.tool === 'run_command'
			? 'Run this command?'
			: question.preview.kind === 'diff'
				? 'Change this file?'
				: 'Allow this?';
	return [
		{text: `${verb}  `, bold: true},
		{
			text:
				question.preview.kind === 'diff'
					? visible(question.preview.path).replaceAll('\n', '\\n')
					: question.tool,
			color: theme.accent,
		},
		{text: `  ${visible(question.why).replaceAll('\n', '\\n')}`, dim: true},
	];
}

function answerRow(answers: readonly GateAnswer[], selected: number, unread: number): Row {
	const label = {
		no: 'No',
		yes: unread > 0 ? `Yes (after reading ${unread} more rows: PgDn)` : 'Yes',
		reason: 'No, and say why',
		remember: 'Yes, always',
	};
	return answers.flatMap((answer, index): Span[] => {
		const isSelected = index === selected;
		const sign = isSelected ? `${glyph.selected} ` : '  ';
		const dim = answer === 'yes' && unread > 0 ? {dim: true} : {};
		return [
			{text: `  ${sign}${label[answer]}`, ...(isSelected ? {color: theme.accent, bold: true} : dim)},
			{text: '  '},
		];
	});
}
