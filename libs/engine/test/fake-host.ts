import type {
  ExecuteResult,
  HostCheck,
  HostHistory,
  HostIssue,
  HostPullRequest,
  IssueAction,
  MergeRules,
  VcsHost,
} from '@pipeline/domain';

const isLogged = (action: IssueAction) =>
  action === 'labeled' || action === 'unlabeled' || action === 'closed' || action === 'reopened';

/** The host behind the engine's port: in memory, accepting every write unless a test sets another result. */
export class FakeHost implements VcsHost {
  readonly clientType = 'sandbox';
  readonly pulls = new Map<number, HostPullRequest>();
  readonly reactions: [number, string][] = [];
  readonly executed: { issueNumber: number; type: string }[] = [];
  permission: 'admin' | 'write' | 'read' | 'none' = 'write';
  /** Results returned instead of success, in order. */
  readonly nextResults: ExecuteResult[] = [];
  #number = 1_000;

  login = async () => 'pipeline-bot';
  isPerson = async () => false;
  getRepo: VcsHost['getRepo'] = async ({ owner, name }) => ({
    owner,
    name,
    id: 1,
    archived: false,
    defaultBranch: 'main',
    cloneUrl: '',
    private: false,
  });
  listIssues: VcsHost['listIssues'] = async () => null;
  /** Issues as last reported. */
  readonly issues = new Map<number, HostIssue>();
  getIssue: VcsHost['getIssue'] = async (_repo, number) => this.issues.get(number) ?? null;
  readonly histories = new Map<number, HostHistory>();
  historyOf: VcsHost['historyOf'] = async (_repo, number) => this.#history(number);
  #seconds = 0;
  #entries = 0;

  /** The host's clock: each call is a second later. */
  tick(): string {
    this.#seconds += 1;
    return new Date(Date.parse('2026-03-01T00:00:00Z') + this.#seconds * 1_000).toISOString();
  }

  /** Adds the content of an event to the host's log, and stores the issue. @returns the changes of an edit. */
  log(issue: HostIssue, { action, label, actor }: { action: IssueAction; label: string | null; actor: string | null }) {
    const known = this.issues.get(issue.number);
    if (!known || known.updatedAt <= issue.updatedAt) this.issues.set(issue.number, issue);
    const history = this.#history(issue.number);
    const add = (kind: HostHistory['events'][number]['kind'], name: string | null = null) => {
      this.#entries += 1;
      history.events.push({ id: this.#entries, kind, label: name, actor, at: issue.updatedAt });
    };
    if (action === 'opened') for (const name of issue.labels) add('labeled', name);
    else if (isLogged(action)) add(action, label);
    if (action !== 'edited') return [];
    const changed = (['title', 'body'] as const).filter((part) => known?.[part] !== issue[part]);
    if (changed.includes('title')) add('renamed');
    if (changed.includes('body')) history.bodyEdit = { at: issue.updatedAt, editor: actor };
    return changed;
  }

  #history(number: number): HostHistory {
    const found = this.histories.get(number) ?? { events: [], bodyEdit: null };
    this.histories.set(number, found);
    return found;
  }

  /** Issues that exist only on the host. */
  readonly standings = new Map<number, 'open' | 'closed'>();
  readonly standingsAsked: [number: number, etag: string | undefined][] = [];
  standingOf: VcsHost['standingOf'] = async (_repo, number, etag) => {
    this.standingsAsked.push([number, etag]);
    const state = this.standings.get(number) ?? 'missing';
    return etag === `"${state}"` ? null : { state, etag: `"${state}"` };
  };
  listComments: VcsHost['listComments'] = async () => [];
  getPullRequest: VcsHost['getPullRequest'] = async (_repo, number) => this.pulls.get(number) ?? null;
  findPullRequests: VcsHost['findPullRequests'] = async () => [];
  listReviews: VcsHost['listReviews'] = async () => [];
  pushProtectionOf: VcsHost['pushProtectionOf'] = async () => ({ restricted: true, by: ['ruleset rule pull_request'] });
  /** Checks of every commit, and what a merge requires. */
  checks: HostCheck[] = [];
  rules: MergeRules = { requiredChecks: [], reviewGate: 'app', methods: ['squash', 'merge', 'rebase'] };
  readonly logs = new Map<string, string>();
  checksOf: VcsHost['checksOf'] = async () => this.checks;
  mergeRulesOf: VcsHost['mergeRulesOf'] = async () => this.rules;
  /** Pull requests whose head lacks commits of the base, by head. */
  readonly behind = new Set<string>();
  isBehind: VcsHost['isBehind'] = async (_repo, _branch, sha) => this.behind.has(sha);
  logTailOf: VcsHost['logTailOf'] = async (_repo, { name }) => this.logs.get(name) ?? null;
  /** Names of checks that were asked to run again. */
  readonly reruns: string[] = [];
  rerunCheck: VcsHost['rerunCheck'] = async (_repo, { name }) => void this.reruns.push(name);
  /** Logins that pushed to each branch. */
  pushers: string[] = [];
  pushersOf: VcsHost['pushersOf'] = async () => this.pushers;
  /** Logins that created a branch of an issue. */
  branchCreators: string[] = [];
  hasCreatedBranch: VcsHost['hasCreatedBranch'] = async (_repo, login) =>
    this.branchCreators.includes(login.toLowerCase());
  permissionOf: VcsHost['permissionOf'] = async () => this.permission;
  createLabels: VcsHost['createLabels'] = async () => [];
  react: VcsHost['react'] = async (_repo, commentId, content) => void this.reactions.push([commentId, content]);

  execute: VcsHost['execute'] = async (_repo, issueNumber, action) => {
    const planned = this.nextResults.shift();
    if (planned) return planned;
    this.executed.push({ issueNumber, type: action.type });
    if (action.type === 'closeIssue') return { status: 'ok', repeated: false, created: { at: this.tick() } };
    if (action.type !== 'createPR' && action.type !== 'createIssue') {
      return { status: 'ok', repeated: false, created: action.type === 'mergePR' ? { sha: 'cafe123' } : null };
    }
    this.#number += 1;
    return {
      status: 'ok',
      repeated: false,
      created: { number: this.#number, sha: 'abc1234', url: `http://host/${this.#number}` },
    };
  };
}
