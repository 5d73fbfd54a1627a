import {
  branchOf,
  type HostIssue,
  type ProjectionAction,
  type RepoRef,
  stateLabel,
  type VcsHost,
} from '@pipeline/domain';
import type { Logger } from '@pipeline/runtime';

/** The states in which the pipeline waits for a person. */
const STOPS = ['needs-clarification', 'failure-blocked', 'human-review-ready'] as const;
type Stop = (typeof STOPS)[number];

/** Time before a comment that had no effect is repeated; longer each time. */
const PATIENCE_MS = 20_000;
/** An issue that comes back more often is not attended to at once. */
const PROMPT_TIMES = 3;

interface Attended {
  at: number;
  times: number;
  /** It has moved on since. */
  left: boolean;
}

export interface PersonOptions {
  host: VcsHost;
  repo: RepoRef;
  log: Logger;
  now: () => Date;
}

/**
 * A scripted person: a simulation of the maintainers that the demo has not. Answers questions, lifts blocks and
 * approves pull requests, all by comments and reviews on the host, as people would.
 */
export class Person {
  readonly #options: PersonOptions;
  /** Attention by state and number of the issue. */
  readonly #attended = new Map<string, Attended>();

  constructor(options: PersonOptions) {
    this.#options = options;
  }

  /** Looks once at all issues that wait for a person: three requests, and a few for each that does. */
  async look(): Promise<void> {
    for (const stop of STOPS) {
      const waiting = await this.#waitingIn(stop);
      // One that has moved on may come back with a new question.
      for (const [key, attended] of this.#attended) {
        const [state, number] = key.split(' ');
        if (state === stop && !waiting.some((issue) => issue.number === Number(number))) attended.left = true;
      }
      for (const issue of waiting) await this.#attend(stop, issue);
    }
  }

  async #waitingIn(stop: Stop): Promise<HostIssue[]> {
    const { host, repo } = this.#options;
    const page = await host.listIssues(repo, { state: 'open', labels: [stateLabel(stop) ?? ''] });
    return page?.issues ?? [];
  }

  async #attend(stop: Stop, issue: HostIssue): Promise<void> {
    const { host, repo, log, now } = this.#options;
    const key = `${stop} ${issue.number}`;
    const at = now().getTime();
    const last = this.#attended.get(key) ?? { at: 0, times: 0, left: true };
    if (!(last.left && last.times < PROMPT_TIMES) && at - last.at < PATIENCE_MS * last.times) return;
    const action = await this.#reactionTo(stop, issue);
    if (!action) return;
    const result = await host.execute(repo, issue.number, action, { mayHaveHappened: false });
    if (result.status !== 'ok') throw new Error(`#${issue.number}: ${result.message}`);
    this.#attended.set(key, { at, times: last.times + 1, left: false });
    log.info('attention flag cleared', { issue: issue.number, state: stop, action: action.type });
  }

  async #reactionTo(stop: Stop, issue: HostIssue): Promise<ProjectionAction | null> {
    const marker = `${stop}-${this.#options.now().getTime()}`;
    if (stop === 'failure-blocked') {
      return { type: 'postComment', body: '/svc:unblock the tool chain has been repaired (simulation)', marker };
    }
    if (stop === 'needs-clarification') return this.#answer(issue, marker);
    const [pull] = await this.#options.host.findPullRequests(this.#options.repo, branchOf(issue.number));
    if (pull?.state !== 'open') return null;
    return {
      type: 'submitReview',
      prNumber: pull.number,
      event: 'approve',
      body: 'Looks good (simulation).',
      comments: [],
    };
  }

  async #answer(issue: HostIssue, marker: string): Promise<ProjectionAction> {
    const comments = await this.#options.host.listComments(this.#options.repo, issue.number);
    // Another change made the chore needless.
    if (comments.some(({ body }) => body.includes('the default branch has it already'))) {
      return { type: 'closeIssue', reason: 'not_planned', comment: 'It is so already (simulation).' };
    }
    return { type: 'postComment', body: 'Please do just what the title says, in that place (simulation).', marker };
  }
}
