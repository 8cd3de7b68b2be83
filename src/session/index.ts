/** The engine as a library: `import {…} from 'mca/session'`. What is not here may change at any time. */
export {noSpend, type Spend, spend, spendOf, turnNumbers} from './audit.ts';
export type {
	AssistantMessage,
	Body,
	Cut,
	Event,
	EventOf,
	FileChange,
	Message,
	SessionHead,
	ToolCall,
	Verdict,
} from './events.ts';
export {type ForkPoint, type ForkResult, fork, forkPoints, recover} from './fork.ts';
export {type Holder, holderOf} from './lock.ts';
export {EventTooLarge, NotSaved, type Reopened, readBeside, SessionLog} from './log.ts';
export {type End, forEachEvent, type LogRead, readEvents} from './read.ts';
export {
	lostAnswers,
	owesAnswer,
	type Replay,
	replay,
	type UnansweredCall,
	unansweredCalls,
} from './replay.ts';
export {dataFolder, findSession, sessionFiles, sessionFolder} from './sessions.ts';
