import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AppError } from '@pipeline/domain';
import { DeadlineError, withDeadline } from '@pipeline/runtime';
import { addressKey } from '../limits/address-key.ts';
import type { RequestScope } from '../request/request-scope.ts';
import type { BodyMemory } from './body-memory.ts';

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

interface BodyRules {
  /** Bytes, after decoding. */
  limit: number;
  /** False: bodies with a Content-Encoding are rejected, so that nothing is decompressed before authentication. */
  decodes: boolean;
  memory: BodyMemory;
  /** Maximum time for the whole body to arrive, in milliseconds. */
  timeoutMs: number;
}

/**
 * Reads the body of a request; returns an empty buffer without a body.
 * @throws AppError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for a Content-Encoding, OVERLOADED (all three before reading if
 * the headers are sufficient); REQUEST_TIMEOUT; INVALID_INPUT for a body that cannot be decoded or ended early.
 */
export async function readBytes(scope: RequestScope, rules: BodyRules): Promise<Uint8Array> {
  const { request } = scope;
  const announced = announcedLength(request);
  if (announced === 0) return new Uint8Array();
  const address = addressKey(scope.address);
  const decoder = decoderFor(request, rules.decodes);
  if (announced !== undefined && !decoder) {
    if (announced > rules.limit) throw tooLarge(rules.limit);
    rules.memory.requireRoom(address, announced);
  }
  const body = new GrowingBuffer(rules.memory, address, decoder ? undefined : announced);
  scope.onClose(() => body.release());
  try {
    await withDeadline(collect(request, decoder, body, rules.limit), rules.timeoutMs, 'the request body');
    return body.bytes();
  } catch (error) {
    throw error instanceof DeadlineError ? tooLate(rules.timeoutMs, error) : error;
  } finally {
    stop(request, decoder);
  }
}

const tooLate = (timeoutMs: number, cause: DeadlineError) =>
  new AppError('REQUEST_TIMEOUT', `The body did not arrive within ${timeoutMs / 1000} s`, { cause });

/** Undefined = the body has an unknown length. */
function announcedLength({ headers }: IncomingMessage): number | undefined {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}

const tooLarge = (limit: number) => new AppError('PAYLOAD_TOO_LARGE', `Request body larger than ${limit} bytes`);

function decoderFor({ headers }: IncomingMessage, decodes: boolean): Transform | undefined {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase();
  if (encoding === '' || encoding === 'identity') return undefined;
  if (!decodes)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'This route supports no Content-Encoding: send the body unencoded');
  const create = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (!create) throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be gzip, deflate, br or identity');
  return create();
}

/** Settles when the last byte is in the buffer, or at the first problem. */
function collect(
  request: IncomingMessage,
  decoder: Transform | undefined,
  body: GrowingBuffer,
  limit: number,
): Promise<void> {
  const source: Readable = decoder ? request.pipe(decoder) : request;
  return new Promise<void>((resolve, reject) => {
    const onData = (chunk: Buffer) => {
      try {
        if (body.length + chunk.length > limit) throw tooLarge(limit);
        body.append(chunk);
      } catch (error) {
        reject(error);
      }
    };
    source.on('data', onData).once('end', resolve);
    // Keep a listener on both streams: an error event without a listener would exit the process.
    request.on('error', (cause) => reject(new AppError('INVALID_INPUT', 'The request body ended early', { cause })));
    decoder?.on('error', (cause) =>
      reject(new AppError('INVALID_INPUT', 'The request body does not match its Content-Encoding', { cause })),
    );
  });
}

/** Discards the rest of the body, so that the connection can serve its next request. */
function stop(request: IncomingMessage, decoder: Transform | undefined): void {
  if (decoder) {
    request.unpipe(decoder);
    decoder.removeAllListeners('data').destroy();
  }
  request.removeAllListeners('data').resume();
}

const FIRST_BYTES = 4 * 1024;

/**
 * Contiguous buffer that copies chunks on arrival, so that small chunks cost no object each. Its capacity, at most twice its
 * content, is reserved from a memory budget.
 */
class GrowingBuffer {
  readonly #memory: BodyMemory;
  readonly #address: string;
  /** Expected size in bytes, if known. */
  readonly #final: number | undefined;
  #buffer = Buffer.alloc(0);
  #length = 0;
  #isReleased = false;

  constructor(memory: BodyMemory, address: string, final: number | undefined) {
    this.#memory = memory;
    this.#address = address;
    this.#final = final;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws AnswerError OVERLOADED when the memory budget is exhausted. */
  append(chunk: Uint8Array): void {
    if (this.#isReleased) return;
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#buffer.set(chunk, this.#length);
    this.#length = needed;
  }

  #grow(needed: number): void {
    const doubled = Math.max(FIRST_BYTES, this.#buffer.length * 2);
    const size = Math.max(needed, Math.min(doubled, this.#final ?? doubled));
    this.#memory.take(this.#address, size - this.#buffer.length);
    const grown = Buffer.allocUnsafeSlow(size);
    grown.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = grown;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Releases the reserved memory. Existing views stay readable; appending is no longer allowed. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#memory.release(this.#address, this.#buffer.length);
  }
}
