import type { StackState } from '../../src/data/state.ts';
import type { StackReport } from '../../src/start/report.ts';

interface HostIssue {
  number: number;
  state: 'open' | 'closed';
  labels: { name: string }[];
}

/** The sandbox host as a person with write access sees it, by its REST API alone. */
export class HostView {
  readonly #report: StackReport;
  readonly #state: StackState;

  constructor(report: StackReport, state: StackState) {
    this.#report = report;
    this.#state = state;
  }

  get slug(): string {
    return this.#report.repos[0] ?? '';
  }

  /** Opens an issue for the pipeline. @returns its number. */
  async open(title: string): Promise<number> {
    const body = { title, labels: ['svc:enqueue'] };
    return (await this.#request<HostIssue>('POST', `/repos/${this.slug}/issues`, body)).number;
  }

  /** Opens an issue as its author does, without handing it to the pipeline. @returns its number. */
  async openUnlabelled(title: string): Promise<number> {
    return (await this.#request<HostIssue>('POST', `/repos/${this.slug}/issues`, { title })).number;
  }

  /** Comments on an issue as a person with write access. */
  comment(number: number, body: string): Promise<unknown> {
    return this.#request('POST', `/repos/${this.slug}/issues/${number}/comments`, { body });
  }

  /** Titles of what is open. */
  async titles(kind: 'issues' | 'pulls'): Promise<string[]> {
    const open = await this.#request<{ title: string }[]>('GET', `/repos/${this.slug}/${kind}?per_page=100`);
    return open.map(({ title }) => title);
  }

  /** Creates a repo that both the person and the pipeline may write to. @returns a view of it. */
  async addRepo(slug: string): Promise<HostView> {
    const { adminToken, bot, person } = this.#state.sandbox;
    const collaborators = { [bot.login]: 'write', [person.login]: 'write' };
    await this.#request('POST', '/_sandbox/repos', { slug, collaborators }, adminToken);
    return new HostView({ ...this.#report, repos: [slug] }, this.#state);
  }

  async issue(number: number): Promise<{ isOpen: boolean; labels: string[] }> {
    const { state, labels } = await this.#request<HostIssue>('GET', `/repos/${this.slug}/issues/${number}`);
    return { isOpen: state === 'open', labels: labels.map(({ name }) => name).sort() };
  }

  /** Makes the host refuse all writes of labels to an issue until `accept`. */
  refuseLabels(number: number): Promise<unknown> {
    return this.#refuse({ path: `/issues/${number}/labels` });
  }

  /** Makes the host refuse all new pull requests until `accept`. */
  refusePulls(): Promise<unknown> {
    return this.#refuse({ path: '/pulls', method: 'POST' });
  }

  /** Address with the credentials of an agent. */
  get pushUrl(): string {
    const { login, token } = this.#state.sandbox.agent;
    return this.#report.sandbox.url.replace('://', `://${login}:${token}@`).concat(`/${this.slug}.git`);
  }

  accept(): Promise<unknown> {
    return this.#admin('DELETE');
  }

  #refuse(match: { path: string; method?: string }): Promise<unknown> {
    return this.#admin('POST', { status: 422, message: 'Validation Failed', times: 1_000, match });
  }

  #admin(method: string, body?: unknown): Promise<unknown> {
    return this.#request(method, '/_sandbox/fail-next', body, this.#state.sandbox.adminToken);
  }

  async #request<T>(
    method: string,
    path: string,
    body?: unknown,
    token = this.#state.sandbox.person.token,
  ): Promise<T> {
    const response = await fetch(this.#report.sandbox.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (response.status === 204 ? null : await response.json()) as T;
  }
}
