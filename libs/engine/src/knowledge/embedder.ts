import { type EmbeddingEndpoint, withoutTrailing } from '@pipeline/domain';
import type { Embedder } from '../context/context.ts';

/** Its message is for operators and contains no secret. */
export class EmbeddingError extends Error {
  override readonly name = 'EmbeddingError';
}

interface Options {
  /** Variables among which is the configured key. */
  variables: Readonly<Record<string, string | undefined>>;
  now: () => Date;
}

/** An unavailable endpoint is not called for every claim: each would wait for it. */
const REST_MS = 30_000;

/** A client for any service with the embeddings API of OpenAI. */
export class OpenAiEmbedder implements Embedder {
  readonly #options: Options;
  #rest: { untilMs: number; message: string } | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  async embed(texts: readonly string[], endpoint: EmbeddingEndpoint): Promise<number[][]> {
    const nowMs = this.#options.now().getTime();
    if (this.#rest && nowMs < this.#rest.untilMs) throw new EmbeddingError(this.#rest.message);
    try {
      const vectors = vectorsIn(await this.#ask(texts, endpoint), texts.length);
      this.#rest = null;
      return vectors;
    } catch (error) {
      const message =
        error instanceof EmbeddingError ? error.message : `no answer from ${endpoint.url}: ${String(error)}`;
      this.#rest = { untilMs: nowMs + REST_MS, message };
      throw new EmbeddingError(message, { cause: error });
    }
  }

  async #ask(input: readonly string[], endpoint: EmbeddingEndpoint): Promise<unknown> {
    const { url, model, apiKeyEnv, dimensions, timeoutMs } = endpoint;
    const key = apiKeyEnv === null ? undefined : this.#options.variables[apiKeyEnv];
    if (apiKeyEnv !== null && !key) throw new EmbeddingError(`${apiKeyEnv}, named by embeddingEndpoint, is not set`);
    const response = await fetch(`${withoutTrailing(url, '/')}/embeddings`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input, encoding_format: 'float', ...(dimensions && { dimensions }) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new EmbeddingError(`${url} answered ${response.status}`);
    return response.json();
  }
}

function vectorsIn(answer: unknown, wanted: number): number[][] {
  const { data } = Object(answer) as { data?: unknown };
  const entries = Array.isArray(data) ? (data as { index?: unknown; embedding?: unknown }[]) : [];
  const vectors = entries
    .toSorted((a, b) => Number(a.index) - Number(b.index))
    .map(({ embedding }) => unitVector(embedding));
  const [first] = vectors;
  if (vectors.length !== wanted || vectors.some((vector) => vector.length !== first?.length)) {
    throw new EmbeddingError('the embedding endpoint did not return one vector per text');
  }
  return vectors;
}

/** The cosine of vectors of length 1 is the sum of their products. */
function unitVector(value: unknown): number[] {
  const vector = Array.isArray(value) ? value.map(Number) : [];
  const length = Math.hypot(...vector);
  if (!(length > 0) || !Number.isFinite(length)) {
    throw new EmbeddingError('the embedding endpoint returned an invalid vector');
  }
  return vector.map((part) => part / length);
}
