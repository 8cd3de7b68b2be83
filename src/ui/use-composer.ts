import type {Rest} from '../agent/agent-event.ts';
import {chunkOf, type Draft, draftOf, type Edit, edit, textOf} from './composer.ts';
import {composerRows, type Laid} from './composer-rows.ts';
import {graphemes} from './display.ts';
import {found, type History, noSearch, older, type Search, searchRows} from './history.ts';
import type {KeyPress} from './keys.ts';
import {afterRest, type Queue, takenBack} from './queue.ts';
import {useLatest} from './use-latest.ts';

/** What is being written, what waits to be sent, and the search through what was. `said` are the prompts of the session, newest first. */
export function useComposer(options: {draft: string; history: History; said: readonly string[]}) {
	const {history, said} = options;
	const [draft, setDraft, latestDraft] = useLatest<Draft>(() => draftOf(options.draft));
	const [search, setSearch, latestSearch] = useLatest<Search>(() => noSearch);
	const [{queue}, setQueue, latestQueue] = useLatest<{queue: Queue}>(() => ({queue: []}));

	/** Newest first; those of a session that was begun elsewhere come after those that were written here. */
	const past = (): readonly string[] => {
		const here = history.past();
		const known = new Set(here);
		return [...here, ...said.filter((each) => !known.has(each))];
	};
	const change = (doing: Edit) => {
		const walks = doing.do === 'up' || doing.do === 'down';
		setDraft((now) => edit(now, doing, walks ? past() : []));
	};

	const closeSearch = () => setSearch(noSearch);
	const takeFound = (now: Search & {open: true}) => {
		const text = found(now, past())[now.at];
		if (text !== undefined) change({do: 'replace', text});
		closeSearch();
	};

	return {
		draft,
		setDraft,
		latestDraft,
		queue,
		change,
		lay(columns: number, height: number): Laid {
			if (!search.open) return composerRows(draft, columns, height);
			const rowsOf = (text: string, most: number) =>
				composerRows({...draftOf(text), before: '', after: text}, columns, most).rows;
			return searchRows(search, past(), columns, rowsOf, Math.max(2, height));
		},
		paste(text: string): void {
			const now = latestSearch();
			if (now.open) setSearch({...now, query: now.query + oneLineOf(text), at: 0});
			else change({do: 'paste', text});
		},

		isSearching: () => latestSearch().open,
		openSearch: () => setSearch({open: true, query: '', at: 0}),
		closeSearch,
		/** Whether the key was the search's. What moves the cursor takes the prompt that is shown, and is a key of the composer's then. */
		searchKey({input, key}: KeyPress): boolean {
			const now = latestSearch();
			if (!now.open) return false;
			const look = (query: string) => setSearch({open: true, query, at: 0});
			if (key.escape || (key.ctrl && input === 'g')) closeSearch();
			else if (key.return) takeFound(now);
			else if (key.ctrl && input === 'r') setSearch(older(now, past()));
			else if (key.ctrl && input === 'u') look('');
			else if (key.backspace) {
				if (now.query === '') closeSearch();
				else look(graphemes(now.query).slice(0, -1).join(''));
			} else if (!key.ctrl && !key.meta && !key.tab && input !== '') {
				const {text, submit} = chunkOf(input);
				const to = {...now, query: now.query + oneLineOf(text), at: 0};
				if (submit) takeFound(to);
				else setSearch(to);
			} else {
				takeFound(now);
				return false;
			}
			return true;
		},

		enqueue: (text: string) => setQueue((now) => ({queue: [...now.queue, text]})),
		/** The last message that waits, back into an empty composer; false where none waits. */
		takeBack(): boolean {
			const taken = takenBack(latestQueue().queue);
			if (!taken) return false;
			setQueue({queue: taken.queue});
			setDraft(taken.draft);
			return true;
		},
		/** A turn has come to rest. The message that is to be sent now, if one waited for that. */
		rested(rest: Rest): string | undefined {
			const {queue} = latestQueue();
			const next = afterRest(rest, queue, latestDraft());
			if (!next) return undefined;
			setQueue({queue: 'send' in next ? queue.slice(1) : []});
			if ('send' in next) return next.send;
			setDraft(next.draft);
			return undefined;
		},
		/** What was written is on its way. */
		remember: (text: string) => history.add(text),
		text: () => textOf(latestDraft()),
	};
}

function oneLineOf(text: string): string {
	return text.replace(/[\r\n]+/g, ' ');
}
