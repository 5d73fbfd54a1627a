import { sleep } from '@pipeline/runtime/sleep';
import type { Input, Transport } from './transport.ts';

export interface WatchOptions {
  /** Milliseconds between two requests; default 5,000. */
  everyMs?: number;
  signal?: AbortSignal;
}

const DEFAULT_MS = 5_000;

/**
 * Reads a resource repeatedly until the signal aborts; yields its first body and each one that differs. Where the service
 * sends an ETag, an unchanged resource costs a 304 without a body.
 * @throws PipelineError as a call.
 */
export async function* watchOperation(
  transport: Transport,
  operation: string,
  input: Input,
  { everyMs = DEFAULT_MS, signal }: WatchOptions = {},
): AsyncGenerator<unknown> {
  let tag: string | null = null;
  let last: string | null = null;
  while (!signal?.aborted) {
    const headers = tag === null ? {} : { 'if-none-match': tag };
    const response = await transport.request(operation, input, { headers, ...(signal && { signal }) });
    if (response.status !== 304) {
      const text = await response.text();
      tag = response.headers.get('etag');
      if (text !== last) yield JSON.parse(text);
      last = text;
    }
    if (!(await sleep(everyMs, signal))) return;
  }
}
