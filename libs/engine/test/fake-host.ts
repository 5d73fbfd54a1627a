import type { ExecuteResult, HostPullRequest, VcsHost } from '@pipeline/domain';

/** The host as the engine sees it through its port: in memory, obedient unless a test says otherwise. */
export class FakeHost implements VcsHost {
  readonly clientType = 'sandbox';
  readonly pulls = new Map<number, HostPullRequest>();
  readonly reactions: [number, string][] = [];
  readonly executed: { issueNumber: number; type: string }[] = [];
  permission: 'admin' | 'write' | 'read' | 'none' = 'write';
  /** Answers given instead of yes, first come first served. */
  readonly nextResults: ExecuteResult[] = [];
  #number = 1_000;

  login = async () => 'pipeline-bot';
  getRepo: VcsHost['getRepo'] = async ({ owner, name }) => ({
    owner,
    name,
    defaultBranch: 'main',
    cloneUrl: '',
    private: false,
  });
  listIssues: VcsHost['listIssues'] = async () => null;
  getIssue: VcsHost['getIssue'] = async () => null;
  /** Issues that are known to the host alone. */
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
  permissionOf: VcsHost['permissionOf'] = async () => this.permission;
  react: VcsHost['react'] = async (_repo, commentId, content) => void this.reactions.push([commentId, content]);

  execute: VcsHost['execute'] = async (_repo, issueNumber, action) => {
    const planned = this.nextResults.shift();
    if (planned) return planned;
    this.executed.push({ issueNumber, type: action.type });
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
