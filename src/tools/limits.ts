/** Every bound of the tools, and the functions that cut. All of them cut on code points. */

const KB = 1024;
const MB = 1024 * KB;

/** read_file: lines and bytes of one answer, UTF-16 units of one line. */
export const READ_LINES = 2000;
export const READ_BYTES = 64 * KB;
export const READ_LINE_CHARS = 2000;
/** read_file: bytes that are looked through to count the lines of the whole file. */
export const READ_COUNT_BYTES = 64 * MB;

/** edit_file and write_file: bytes of the largest file they take. */
export const CHANGE_FILE_BYTES = 10 * MB;
/** edit_file: replacements of one call. */
export const EDITS = 100;
/** Bytes of the diff that the model is told after an edit. */
export const DIFF_BYTES = 4 * KB;
/** Time (ms) for making a small diff, before a plain one has to do. It keeps the screen waiting. */
export const DIFF_MS = 100;

/** list_files: paths of one answer, and bytes. */
export const LIST_FILES = 1000;
export const LIST_BYTES = 32 * KB;

/** search: matching lines and bytes of one answer, UTF-16 units of one line, lines around a match. */
export const SEARCH_MATCHES = 200;
export const SEARCH_BYTES = 32 * KB;
export const SEARCH_LINE_CHARS = 500;
export const SEARCH_CONTEXT_LINES = 10;
/** search: bytes of a file that is looked into when a folder is searched. */
export const SEARCH_FILE_BYTES = 10 * MB;
/** search: bytes of one line of ripgrep's answer; a longer one is named but not shown. */
export const SEARCH_RECORD_BYTES = 32 * MB;

/** run_command: seconds. */
export const COMMAND_SECONDS = 120;
export const COMMAND_MAX_SECONDS = 1800;
/** run_command: bytes of output that the model is shown from its beginning and from its end. */
export const OUTPUT_HEAD_BYTES = 10 * KB;
export const OUTPUT_TAIL_BYTES = 20 * KB;
/** run_command: bytes of output after which the command is stopped. */
export const SPILL_BYTES = 50 * MB;
/** run_command: how long (ms) the pipes may stay open after the exit, held by what runs on in the background. */
export const EXIT_GRACE_MS = 200;
/** run_command: time (ms) between SIGTERM and SIGKILL after a timeout, and after the person stopped the turn. */
export const TERM_GRACE_MS = 2000;
export const CANCEL_GRACE_MS = 100;
/** run_command: time (ms) between two pieces for the screen, and UTF-16 units of a piece. */
export const SCREEN_MS = 100;
export const SCREEN_CHARS = 4000;

/** The first `maxBytes` bytes (of UTF-8) of a text. */
export function takeHead(text: string, maxBytes: number): string {
	const bytes = Buffer.from(text.slice(0, maxBytes));
	if (text.length <= maxBytes && bytes.length <= maxBytes) return text;
	let end = Math.min(maxBytes, bytes.length);
	while (end > 0 && isContinuation(bytes[end])) end--;
	return bytes.toString('utf8', 0, end);
}

/** The last `maxBytes` bytes (of UTF-8) of a text. */
export function takeTail(text: string, maxBytes: number): string {
	if (maxBytes <= 0) return '';
	const bytes = Buffer.from(text.slice(-maxBytes));
	if (text.length <= maxBytes && bytes.length <= maxBytes) return text;
	let start = Math.max(0, bytes.length - maxBytes);
	while (start < bytes.length && isContinuation(bytes[start])) start++;
	return bytes.toString('utf8', start);
}

/** A text of at most `headBytes + tailBytes` bytes, and a line in its middle that says what was left out. */
export function cutMiddle(text: string, headBytes: number, tailBytes: number): string {
	const total = Buffer.byteLength(text);
	if (total <= headBytes + tailBytes) return text;
	const head = takeHead(text, headBytes);
	const tail = takeTail(text, tailBytes);
	const left = total - Buffer.byteLength(head) - Buffer.byteLength(tail);
	return `${head}\n… ${left} bytes left out …\n${tail}`;
}

/** A line of at most `maxChars` UTF-16 units, and how many more it has. `line` may be only the beginning of its `length`. */
export function cutLine(line: string, maxChars: number, length = line.length): string {
	if (length <= maxChars) return line;
	const kept = wholeStart(line.slice(0, maxChars));
	return `${kept}… (${length - kept.length} more characters)`;
}

/** At most `maxChars` UTF-16 units of a line, with what is between `start` and `end` in the middle of them. */
export function windowAround(line: string, start: number, end: number, maxChars: number): string {
	if (line.length <= maxChars) return line;
	const room = Math.max(0, maxChars - (end - start));
	const from = Math.max(0, Math.min(start - Math.floor(room / 2), line.length - maxChars));
	const piece = wholeEnd(wholeStart(line.slice(from, from + maxChars)));
	return `${from > 0 ? '…' : ''}${piece}${from + maxChars < line.length ? '…' : ''}`;
}

/** Without the half of a character at the end. */
function wholeStart(text: string): string {
	return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}

/** Without the half of a character at the beginning. */
function wholeEnd(text: string): string {
	return /^[\udc00-\udfff]/.test(text) ? text.slice(1) : text;
}

function isContinuation(byte: number | undefined): boolean {
	return byte !== undefined && (byte & 0xc0) === 0x80;
}
