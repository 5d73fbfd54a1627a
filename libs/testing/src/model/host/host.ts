import type { ExecuteResult, IssuePage, IssueQuery, ProjectionAction, VcsHost } from '@pipeline/domain';
import { BOT, type HostState, PEOPLE } from './state.ts';
import { write } from './writes.ts';

/** The host behind its port: responds like GitHub, with injected faults. */
export class ModelHost implements VcsHost {
  readonly clientType = 'sandbox';
  readonly state: HostState;
  /** Results of the next writes instead of success; a write reaches the host only where noted. */
  readonly troubles: (Trouble | null)[] = [];
  /** Called with each write of an issue before it reaches the host. */
  onWrite: (action: ProjectionAction, issueNumber: number) => void = () => undefined;
  nextMerge: 'conflict' | 'protected' | null = null;
  /** Runs once, between such a read of the host and its response. */
  meanwhile: Meanwhile | null = null;

  constructor(state: HostState) {
    this.state = state;
  }

  login = async () => BOT;
  isPerson = async () => false;
  getRepo: VcsHost['getRepo'] = async ({ owner, name }) => ({
    id: 1,
    owner,
    name,
    archived: false,
    defaultBranch: 'main',
    cloneUrl: '',
    private: false,
  });
  getIssue: VcsHost['getIssue'] = async (_repo, number) => structuredClone(this.state.issues.get(number) ?? null);
  historyOf: VcsHost['historyOf'] = async (_repo, number) => {
    const { events, bodyEdit } = this.state.log.of(number);
    return structuredClone({ events, bodyEdit });
  };
  standingOf: VcsHost['standingOf'] = async (_repo, number) => {
    const found = this.state.issues.get(number) ?? this.state.pulls.get(number);
    return { state: found?.state ?? 'missing', etag: null };
  };
  getPullRequest: VcsHost['getPullRequest'] = (_repo, number) =>
    this.#heardLater('getPullRequest', structuredClone(this.state.pulls.get(number) ?? null));
  findPullRequests: VcsHost['findPullRequests'] = async (_repo, branch) => this.state.pullsOf(branch).reverse();
  listReviews: VcsHost['listReviews'] = async (_repo, number) => this.state.reviews.get(number) ?? [];
  listComments: VcsHost['listComments'] = async (_repo, number, since = '') =>
    (this.state.comments.get(number) ?? []).filter((comment) => comment.updatedAt >= since);
  pushProtectionOf: VcsHost['pushProtectionOf'] = async () => ({ restricted: true, by: ['ruleset rule pull_request'] });
  checksOf: VcsHost['checksOf'] = async () => [];
  isBehind: VcsHost['isBehind'] = async () => false;
  mergeRulesOf: VcsHost['mergeRulesOf'] = async () => ({
    requiredChecks: [],
    reviewGate: 'app',
    methods: ['squash'],
  });
  logTailOf: VcsHost['logTailOf'] = async () => null;
  rerunCheck: VcsHost['rerunCheck'] = async () => undefined;
  permissionOf: VcsHost['permissionOf'] = async (_repo, login) => PEOPLE[login as keyof typeof PEOPLE] ?? 'none';
  pushersOf: VcsHost['pushersOf'] = async () => [];
  hasCreatedBranch: VcsHost['hasCreatedBranch'] = async () => false;
  createLabels: VcsHost['createLabels'] = async () => [];
  react: VcsHost['react'] = async () => undefined;

  listIssues: VcsHost['listIssues'] = (_repo, query) => this.#heardLater('listIssues', this.#issuesOf(query));

  #issuesOf = ({ since = '', labels = [], state }: IssueQuery): IssuePage => ({
    issues: [...this.state.issues.values()]
      .filter((issue) => issue.updatedAt >= since && (state === 'all' || issue.state === state))
      .filter((issue) => labels.every((label) => issue.labels.includes(label)))
      .sort((a, b) => a.updatedAt.localeCompare(b.updatedAt))
      .map((issue) => structuredClone(issue)),
    changedPullRequests: [...this.state.pulls.values()]
      .filter(({ updatedAt }) => updatedAt >= since)
      .map(({ number, updatedAt }) => ({ number, updatedAt })),
    etag: null,
  });

  async #heardLater<T>(read: Meanwhile['read'], answer: T): Promise<T> {
    if (this.meanwhile?.read !== read) return answer;
    const { happens } = this.meanwhile;
    this.meanwhile = null;
    await happens();
    return answer;
  }

  execute: VcsHost['execute'] = async (_repo, issueNumber, action, { mayHaveHappened }) => {
    const trouble = this.troubles.shift();
    if (action.type === 'mergePR' && this.nextMerge && !trouble) {
      const kind = this.nextMerge;
      this.nextMerge = null;
      return { status: 'refused', httpStatus: 405, message: kind, kind };
    }
    if (trouble && !trouble.reachesHost) return trouble.answer;
    this.onWrite(action, issueNumber);
    const result = write(this.state, issueNumber, action, mayHaveHappened);
    return trouble && result.status === 'ok' ? trouble.answer : result;
  };
}

export interface Meanwhile {
  read: 'listIssues' | 'getPullRequest';
  happens: () => Promise<unknown>;
}

export interface Trouble {
  /** The host executes the write, and the response is lost. */
  reachesHost: boolean;
  answer: ExecuteResult;
}
