import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { DocumentError, OpenApiDocument } from './openapi-document.ts';

const MAX_BYTES = 32 * 1024 * 1024;
const MAX_MS = 30_000;

/**
 * Reads an OpenAPI document in JSON from a file, an http(s) address, or standard input (`-`).
 * @throws DocumentError when it cannot be read in 30 s, exceeds 32 MiB, or is no OpenAPI 3.1 document.
 */
export async function readDocument(source: string): Promise<OpenApiDocument> {
  const signal = AbortSignal.timeout(MAX_MS);
  try {
    return OpenApiDocument.parse(await textOf(source, signal));
  } catch (error) {
    const reason = signal.aborted ? `was not read within ${MAX_MS / 1000} s` : reasonOf(error);
    throw new DocumentError(`${source === '-' ? 'standard input' : source} ${reason}`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof DocumentError) return error.message;
  const { message, cause } = error as Error;
  return `cannot be read: ${cause instanceof Error ? cause.message : message}`;
}

async function textOf(source: string, signal: AbortSignal): Promise<string> {
  if (source === '-') return boundedText(addAbortSignal(signal, process.stdin));
  if (!/^https?:\/\//i.test(source)) return boundedText(createReadStream(source, { signal }));
  const response = await fetch(source, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new DocumentError(`cannot be read: status ${response.status}`);
  return boundedText(response.body ?? []);
}

async function boundedText(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new DocumentError(`is longer than ${MAX_BYTES / 1024 / 1024} MiB`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString('utf8');
}
