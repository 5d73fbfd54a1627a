import { CheckFailed, must, mustEqual } from './outcome.ts';

export interface StreamMessage {
  id: string;
  event: string;
  data: unknown;
}

/** Longest text of a message that is waited for, in characters. */
const LONGEST_MESSAGE = 1_000_000;

/**
 * Reads an event stream until enough messages came or the time is over.
 * @throws CheckFailed when it is no event stream, or a message is malformed.
 */
export async function readStream(
  address: string,
  headers: Record<string, string>,
  { withinMs, isEnough }: { withinMs: number; isEnough(messages: readonly StreamMessage[]): boolean },
): Promise<StreamMessage[]> {
  const abort = new AbortController();
  const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(withinMs)]);
  const messages: StreamMessage[] = [];
  try {
    const response = await fetch(address, { headers, signal });
    mustEqual('status', response.status, 200);
    const type = response.headers.get('content-type') ?? '';
    must(type.startsWith('text/event-stream'), `content type is ${type}`);
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const blocks = `${text}${chunk}`.split('\n\n');
      text = blocks.pop() ?? '';
      must(text.length <= LONGEST_MESSAGE, 'a message has no end');
      messages.push(...blocks.flatMap(messageOf));
      if (isEnough(messages)) break;
    }
  } catch (error) {
    if (error instanceof CheckFailed) throw error;
    if (!signal.aborted) throw new CheckFailed(String(error));
  } finally {
    abort.abort();
  }
  return messages;
}

/** Blocks of comments and of `retry` alone are no message. */
function messageOf(block: string): StreamMessage[] {
  const fields = new Map(
    block.split('\n').map((line) => {
      const at = line.indexOf(':');
      return [line.slice(0, at), line.slice(at + 1).trimStart()] as const;
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return [];
  try {
    return [{ id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data: JSON.parse(data) }];
  } catch {
    throw new CheckFailed(`the data of a message is no JSON: ${data.slice(0, 200)}`);
  }
}
