import { type AnyRoute, isRawBody, type Surface } from '@pipeline/contract';
import fc from 'fast-check';
import { type Credential, type CredentialMatrix, noCredential } from '../target/credentials.ts';
import type { PlannedCase } from '../target/planned-request.ts';
import type { TestedSurface } from '../target/target.ts';
import { actsOnClaim, arrange, claimFor } from './arrange.ts';
import { judge, type Problem } from './judge.ts';
import { learnFromReads } from './learn.ts';
import { listTools, type McpTool, toolCalls } from './mcp-calls.ts';
import type { Case, Finding, PropertyResult } from './result.ts';
import { count, emptyTally, type Tally } from './tally.ts';
import { validRequests } from './valid-requests.ts';
import { Vocabulary } from './vocabulary.ts';
import { woundedRequests } from './wounded-requests.ts';

interface CaseSource {
  surface: Surface;
  route: AnyRoute;
  matrix: CredentialMatrix;
  vocabulary: Vocabulary;
  tools: readonly McpTool[];
}

/** Shares in percent of an endpoint that has all three. */
const SHARE = { valid: 50, invalid: 35, refusedCaller: 15 };

export interface PropertyOptions {
  /** Requests over all endpoints, shrinking and reading aside. */
  runs: number;
  seed: number;
  /** Endpoints that change state are left out without it. */
  write: boolean;
  /** operationIds; empty = all. */
  only: readonly string[];
  /** operationId to reason. */
  skip: ReadonlyMap<string, string>;
  /** Endpoints under test at a time. */
  concurrency: number;
  /** Wrong passwords that are sent at most; targets lock an address out after some. */
  guesses: number;
}

interface Endpoint {
  tested: TestedSurface;
  route: AnyRoute;
  cases: fc.Arbitrary<Case>;
}

/** Requests to an endpoint before what the target returned is read again. */
const ROUND = 10;

const CHANGES_STATE = 'changes state; tested only by --write without a name, against a scratch target';

/** Methods that read, and the one endpoint that only reads by another. */
const isRead = ({ method, id }: AnyRoute): boolean => method === 'get' || id === 'postMcp';

/**
 * Sends generated requests to every endpoint and judges each answer by the declarations. The same seed gives the same
 * requests as long as the target returns the same from its lists.
 */
export class PropertySuite {
  readonly #surfaces: readonly TestedSurface[];
  readonly #options: PropertyOptions;
  readonly #vocabularies = new Map<TestedSurface, Vocabulary>();
  readonly #tools = new Map<TestedSurface, McpTool[]>();
  readonly #findings = new Map<string, Finding>();
  readonly #tally = emptyTally();
  readonly #skipped: Record<string, string> = {};
  readonly #onProgress: (tally: Tally, findings: number) => void;
  #guesses = 0;

  constructor(
    surfaces: readonly TestedSurface[],
    options: PropertyOptions,
    onProgress: (tally: Tally, findings: number) => void = () => undefined,
  ) {
    this.#surfaces = surfaces;
    this.#options = options;
    this.#onProgress = onProgress;
    for (const tested of surfaces) this.#vocabularies.set(tested, new Vocabulary());
  }

  async run(): Promise<PropertyResult> {
    await this.#learn();
    const endpoints = this.#endpoints();
    const perEndpoint = Math.ceil(this.#options.runs / Math.max(1, endpoints.length));
    for (let done = 0, round = 0; done < perEndpoint && endpoints.length > 0; done += ROUND, round += 1) {
      const runs = Math.min(ROUND, perEndpoint - done);
      if (round > 0) await this.#learn();
      await eachOf(endpoints, this.#options.concurrency, (endpoint) => this.#tryEndpoint(endpoint, round, runs));
      this.#onProgress(this.#tally, this.#findings.size);
    }
    return {
      seed: this.#options.seed,
      findings: [...this.#findings.values()],
      tally: this.#tally,
      skipped: this.#skipped,
    };
  }

  async #learn(): Promise<void> {
    for (const tested of this.#surfaces) {
      const { target, matrix } = tested;
      const vocabulary = this.#vocabularyOf(tested);
      await learnFromReads(target, (route) => matrix.good(route.auth), vocabulary);
      if (this.#options.write) await arrange(target, (route) => matrix.good(route.auth), vocabulary);
      const mcp = target.surface.routes.find(({ id }) => id === 'postMcp');
      const [connection] = matrix.good('connection');
      if (mcp && connection && !this.#tools.has(tested))
        this.#tools.set(tested, await listTools(target, mcp, connection));
    }
  }

  /** Both surfaces of one product speak of the same repos and issues. */
  #vocabularyOf(tested: TestedSurface): Vocabulary {
    return this.#vocabularies.get(tested) ?? new Vocabulary();
  }

  #endpoints(): Endpoint[] {
    return this.#surfaces.flatMap((tested) =>
      tested.target.surface.routes.flatMap((route) => this.#endpoint(tested, route)),
    );
  }

  #endpoint(tested: TestedSurface, route: AnyRoute): Endpoint[] {
    const { only, skip, write } = this.#options;
    const reason = skip.get(route.id) ?? (write || isRead(route) ? undefined : CHANGES_STATE);
    if (only.length > 0 && !only.includes(route.id)) return [];
    const { surface } = tested.target;
    const cases =
      reason === undefined
        ? casesOf({
            surface,
            route,
            matrix: tested.matrix,
            vocabulary: this.#vocabularyOf(tested),
            tools: this.#tools.get(tested) ?? [],
          })
        : null;
    if (cases) return [{ tested, route, cases }];
    this.#skipped[`${surface.name} ${route.id}`] = reason ?? noCredential(route.auth);
    return [];
  }

  /** Problems that are known do not stop the search for others; a new one is made as small as it gets. */
  async #tryEndpoint({ tested, route, cases }: Endpoint, round: number, runs: number): Promise<void> {
    const [worker] = tested.matrix.good('worker');
    if (worker && actsOnClaim(route)) await claimFor(route, tested.target, worker, this.#vocabularyOf(tested));
    const seed = seedOf(this.#options.seed, `${tested.target.surface.name} ${route.id}`, round);
    let chased: string | undefined;
    const property = fc.asyncProperty(cases, async (one) => {
      const problem = await this.#send(tested, one);
      if (!problem) return;
      const known = this.#findings.get(problem.signature);
      const finding = { surface: tested.target.surface.name, endpoint: route.id, problem, example: one };
      if (problem.signature === chased) {
        this.#findings.set(problem.signature, { ...finding, times: (known?.times ?? 0) + 1 });
        throw new Error(problem.text);
      }
      if (known) {
        known.times += 1;
        return;
      }
      if (chased !== undefined) return;
      chased = problem.signature;
      this.#findings.set(problem.signature, { ...finding, times: 1 });
      throw new Error(problem.text);
    });
    await fc.check(property, { seed, numRuns: runs });
  }

  async #send({ target }: TestedSurface, one: Case): Promise<Problem | null> {
    const { request, expectation, caller } = one;
    if (caller.credential.isGuess) this.#guesses += 1;
    if (caller.credential.isGuess && this.#guesses > this.#options.guesses) return null;
    const outcome = await target.send(request, caller.credential);
    const verdict = judge(target.surface, one, outcome);
    count(this.#tally, {
      surface: target.surface.name,
      endpoint: request.route.id,
      credential: caller.credential.name,
      expectation: caller.isGood ? expectation.kind : 'refused caller',
      status: outcome.ok ? outcome.answer.status : null,
      ms: outcome.ok ? outcome.ms : 0,
      condition: verdict.condition,
    });
    return verdict.problem;
  }
}

/** Calls `act` for every item, at most `width` at a time, in their order. */
async function eachOf<T>(items: readonly T[], width: number, act: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await act(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** A seed of 32 bits that differs from endpoint to endpoint and from round to round (FNV-1a). */
function seedOf(seed: number, endpoint: string, round: number): number {
  let hash = (seed ^ 0x811c9dc5) | 0;
  for (const char of `${endpoint} ${round}`) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  return hash;
}

/**
 * Every kind of request to one endpoint: valid and invalid by good callers, valid by callers that must be refused.
 * @returns null when no credential for the endpoint was given and it refuses no caller.
 */
function casesOf({ surface, route, matrix, vocabulary, tools }: CaseSource): fc.Arbitrary<Case> | null {
  const known = (name: string) => vocabulary.known(route.path, name);
  const valid = validRequests(surface, route, known);
  const invalid = woundedRequests(surface, route, valid);
  const isUnspecified = isRawBody(route.body) || route.undocumented === true;
  const expectation = { kind: isUnspecified ? 'unspecified' : 'valid' } as const;
  const fine = valid.map((request): PlannedCase => ({ request, expectation }));
  const planned = route.id === 'postMcp' && tools.length > 0 ? fc.oneof(fine, toolCalls(route, tools, known)) : fine;
  const by = (cases: fc.Arbitrary<PlannedCase>, credentials: readonly Credential[], isGood: boolean) =>
    credentials.length === 0
      ? null
      : fc
          .tuple(cases, fc.constantFrom(...credentials))
          .map(([one, credential]): Case => ({ ...one, caller: { credential, isGood } }));
  const all = [
    { arbitrary: by(planned, matrix.good(route.auth), true), weight: SHARE.valid },
    { arbitrary: invalid && by(invalid, matrix.good(route.auth), true), weight: SHARE.invalid },
    { arbitrary: by(fine, matrix.bad(route.auth), false), weight: SHARE.refusedCaller },
  ].filter((one): one is { arbitrary: fc.Arbitrary<Case>; weight: number } => one.arbitrary !== null);
  return all.length === 0 ? null : fc.oneof(...all);
}
