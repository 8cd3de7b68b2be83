import type {Response as UndiciResponse} from 'undici';
import {list, record} from './openai-chunk.ts';
import {Refused} from './openai-errors.ts';

/** The longest that a timer can wait, ms. */
export const forEver = 2 ** 31 - 1;

/** Accept an answer as a stream of events, or throw what it says as Refused. */
export async function toStream(response: UndiciResponse, refusalMs: number): Promise<Response> {
	const {ok, status, body} = response;
	const headers = new Headers([...response.headers]);
	const type = headers.get('content-type') ?? '';
	if (ok && body && status !== 204 && !/json|html/i.test(type)) {
		return new Response((body as unknown as ReadableStream<Uint8Array>).pipeThrough(eventLimit()), {headers});
	}
	// A whole answer may take its time, and `receive` keeps that. A refusal is known by its status.
	const text = await readText(response, ok ? forEver : refusalMs);
	if (ok && isCompletion(text)) {
		// The server does not stream: its whole answer is the only chunk.
		const chunk = JSON.stringify(JSON.parse(text));
		return new Response(`data: ${chunk}\n\ndata: [DONE]\n\n`, {
			headers: {'content-type': 'text/event-stream'},
		});
	}
	throw new Refused(status, headers, text);
}

/** The longest event of a stream, bytes. All of it is held until the blank line that ends it. */
const maxEventBytes = 8 * 1024 * 1024;

/** An event that is longer than that. */
export class Endless extends Error {
	readonly bytes = maxEventBytes;
}

/** Pass a stream on, and fail it with Endless where no event ends any more. */
function eventLimit(): TransformStream<Uint8Array, Uint8Array> {
	let held = 0;
	let tail: Uint8Array = Buffer.of();
	return new TransformStream({
		transform(chunk, controller) {
			// A blank line may come in two chunks.
			const seen = Buffer.concat([tail, chunk]);
			const end = ['\n\n', '\n\r\n', '\r\r'].find((mark) => seen.includes(mark));
			held = end === undefined ? held + chunk.length : seen.length - seen.lastIndexOf(end);
			tail = seen.subarray(-2);
			if (held > maxEventBytes) controller.error(new Endless());
			else controller.enqueue(chunk);
		},
	});
}

const maxBodyBytes = 32 * 1024 * 1024;

/** The body of an answer, or of a refusal as far as it comes in `ms`. */
async function readText({ok, body}: UndiciResponse, ms: number): Promise<string> {
	const reader = body?.getReader();
	if (!reader) return '';
	const timer = setTimeout(() => reader.cancel().catch(() => {}), ms);
	const pieces: Uint8Array[] = [];
	let bytes = 0;
	try {
		for (let step = await reader.read(); !step.done && bytes < maxBodyBytes; step = await reader.read()) {
			pieces.push(step.value);
			bytes += step.value.length;
		}
	} catch (error) {
		// Of a refusal the status says enough.
		if (ok) throw error;
	} finally {
		clearTimeout(timer);
		// The connection of a body that has more than that is of no use any more.
		if (bytes >= maxBodyBytes) reader.cancel().catch(() => {});
	}
	return Buffer.concat(pieces).toString();
}

function isCompletion(text: string): boolean {
	try {
		return list(record(JSON.parse(text)).choices).length > 0;
	} catch {
		return false;
	}
}
