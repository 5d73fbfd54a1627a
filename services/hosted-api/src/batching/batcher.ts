/** Answers questions at once: one answer for each, in order. One that fails leaves the others alone. */
export type Serve<Q, A> = (questions: readonly Q[]) => Promise<readonly PromiseSettledResult<A>[]>;

interface Waiting<Q, A> {
  question: Q;
  resolve(answer: A): void;
  reject(error: unknown): void;
}

/** So many are served together at most. */
const MOST = 64;

/**
 * Questions of a line that come in one turn of the event loop, or while some of it are under way, are gathered and served
 * together. Each is answered by what began after it was asked, so nothing is ever answered from before; under load a
 * statement serves many. Lines do not wait for each other.
 */
export class Batcher<Q, A> {
  readonly #serve: Serve<Q, A>;
  /** Those who wait, by line; a line is here while something of it is under way. */
  readonly #lines = new Map<string, Waiting<Q, A>[]>();

  constructor(serve: Serve<Q, A>) {
    this.#serve = serve;
  }

  ask(question: Q, line = ''): Promise<A> {
    return new Promise((resolve, reject) => {
      const waiting = { question, resolve, reject };
      const known = this.#lines.get(line);
      if (known) known.push(waiting);
      else void this.#run(line, waiting);
    });
  }

  /** Never rejects: those who wait are told. */
  async #run(line: string, first: Waiting<Q, A>): Promise<void> {
    const waiting = [first];
    this.#lines.set(line, waiting);
    while (waiting.length > 0) {
      await new Promise(setImmediate);
      const served = waiting.splice(0, MOST);
      try {
        const answers = await this.#serve(served.map(({ question }) => question));
        for (const [at, { resolve, reject }] of served.entries()) {
          const answer = answers[at];
          if (answer?.status === 'fulfilled') resolve(answer.value);
          else reject(answer?.reason ?? new Error('the batch returned no result for the request'));
        }
      } catch (error) {
        for (const { reject } of served) reject(error);
      }
    }
    this.#lines.delete(line);
  }
}
