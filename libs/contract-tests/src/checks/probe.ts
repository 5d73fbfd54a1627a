import { type AuthKind, checkAnswer, matchRoute, type SeenAnswer } from '@pipeline/contract';
import { type Credential, noCredential } from '../target/credentials.ts';
import type { HttpRequest, TestedSurface } from '../target/target.ts';
import { CheckFailed, CheckSkipped, must } from './outcome.ts';
import { type SampleName, type Samples, sampleOf } from './samples.ts';

interface Sending {
  method?: string;
  body?: string;
  /** The body with variables in place of its secrets. */
  shownBody?: string;
  headers?: Readonly<Record<string, string>>;
  /** Default: a good credential of the endpoint. */
  credential?: Credential;
}

/** An answer that met the declarations. */
export interface Answer extends SeenAnswer {
  /** @throws CheckFailed when the body is no JSON. */
  json<T = unknown>(): T;
}

export const NO_CREDENTIAL: Credential = { name: 'none', headers: {}, shown: {} };

/** Sends the requests of one check and remembers the last one, so that a report can repeat it. */
export class Probe {
  readonly tested: TestedSurface;
  readonly samples: Samples;
  last: { request: HttpRequest; credential: Credential } | null = null;

  constructor(tested: TestedSurface, samples: Samples = {}) {
    this.tested = tested;
    this.samples = samples;
  }

  /** @throws CheckSkipped when the target has nothing of the kind, or no credential to read it was given. */
  sample(name: SampleName): string {
    // A scratch repo is named by --write; the other names are read from the target.
    if (this.samples[name] === undefined && name !== 'scratch') this.good(this.#defaultAuth);
    return sampleOf(this.samples, name);
  }

  /** Path segments and query values of an address template are filled from the samples, encoded. */
  fill(template: string): string {
    return template.replace(/\{(\w+)\}/g, (_all, name: SampleName) =>
      // A repo in a path is two segments; a slash in a query needs no encoding.
      name === 'repo' ? this.sample(name) : encodeURIComponent(this.sample(name)),
    );
  }

  /** The first accepted credential of a kind. @throws CheckSkipped when none was given. */
  good(kind: AuthKind): Credential {
    const [credential] = this.tested.matrix.good(kind);
    if (!credential) throw new CheckSkipped(noCredential(kind));
    return credential;
  }

  /**
   * Sends a request to an address template and checks the answer against the declarations.
   * @throws CheckFailed when there is no answer, an undeclared one, or an unexpected failure.
   */
  async send(template: string, sending: Sending = {}): Promise<Answer> {
    const answer = await this.#exchange(this.fill(template), sending);
    const [problem] = checkAnswer(this.tested.target.surface, answer);
    if (problem !== undefined) throw new CheckFailed(problem);
    must(answer.status !== 500, `500: ${answer.body.slice(0, 200)}`);
    return {
      ...answer,
      json<T>() {
        try {
          return JSON.parse(answer.body) as T;
        } catch {
          throw new CheckFailed('the body is no JSON');
        }
      },
    };
  }

  /** Reads an address. @returns null when there is no answer. */
  async tryGet(address: string): Promise<SeenAnswer | null> {
    try {
      return await this.#exchange(address, {});
    } catch (error) {
      if (error instanceof CheckFailed || error instanceof CheckSkipped) return null;
      throw error;
    }
  }

  get #defaultAuth(): AuthKind {
    return DEFAULT_AUTH[this.tested.target.surface.name];
  }

  async #exchange(
    address: string,
    { method = 'GET', body, shownBody, headers = {}, credential }: Sending,
  ): Promise<SeenAnswer> {
    const { target } = this.tested;
    const route = matchRoute(target.surface.routes, method, address.split('?')[0] ?? '');
    const by = credential ?? this.good(route?.auth ?? this.#defaultAuth);
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = {
      method,
      address,
      body,
      ...(shownBody !== undefined && { shownBody }),
      headers: { accept: 'application/json', ...type, ...headers, ...by.headers },
    };
    this.last = { request, credential: by };
    const outcome = await target.exchange(request);
    if (!outcome.ok) throw new CheckFailed(outcome.error);
    return outcome.answer;
  }
}

/** Credentials for addresses of no endpoint, and for the reads that find samples. */
const DEFAULT_AUTH = { hosted: 'connection', monitor: 'operator' } as const;

export type Fields = Readonly<Record<string, string>>;

/** Fields whose values a report must not show. */
const SECRET = ['client_secret', 'code', 'code_verifier', 'password', 'refresh_token', 'token'];

/** Sends a form. A printed command holds variables in place of secrets: `password=$PASSWORD`. */
export const postForm = (
  probe: Probe,
  address: string,
  fields: Fields,
  { credential = NO_CREDENTIAL, accept = 'application/json' }: { credential?: Credential; accept?: string } = {},
): Promise<Answer> =>
  probe.send(address, {
    credential,
    method: 'POST',
    headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
    body: `${new URLSearchParams(fields)}`,
    shownBody: Object.entries(fields)
      .map(([name, value]) => `${name}=${SECRET.includes(name) ? `$${name.toUpperCase()}` : encodeURIComponent(value)}`)
      .join('&'),
  });
