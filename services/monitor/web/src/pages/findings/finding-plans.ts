import type { ActionPlan } from '../../actions/action.ts';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';

export type Finding = Reply<'listFindings'>['items'][number];
type Move = 'accept' | 'resolve' | 'dismiss' | 'reopen';

interface MoveRule {
  verb: string;
  from: readonly Finding['status'][];
  grade: 1 | 2;
  effect: string;
}

const MOVES: Readonly<Record<Move, MoveRule>> = {
  accept: {
    verb: 'Accept',
    from: ['open'],
    grade: 1,
    effect: 'Confirms the finding. A merge that it blocks stays blocked.',
  },
  resolve: {
    verb: 'Resolve',
    from: ['open', 'accepted'],
    grade: 1,
    effect: 'Marks the finding as fixed. If an agent reports it again, it reopens.',
  },
  dismiss: {
    verb: 'Dismiss',
    from: ['open', 'accepted'],
    grade: 2,
    effect: 'Marks the finding as not actionable. If an agent reports it again, it stays dismissed.',
  },
  reopen: { verb: 'Reopen', from: ['resolved', 'dismissed'], grade: 1, effect: 'The finding is open again.' },
};

const ROUTES = {
  accept: 'acceptFinding',
  resolve: 'resolveFinding',
  dismiss: 'dismissFinding',
  reopen: 'reopenFinding',
} as const satisfies Record<Move, string>;

/** Returns the actions that the status of a finding allows. */
export const findingPlans = (finding: Finding): ActionPlan[] =>
  (Object.keys(MOVES) as Move[])
    .filter((move) => MOVES[move].from.includes(finding.status))
    .map((move) => planOf(finding, move));

function planOf({ id, title }: Finding, move: Move): ActionPlan {
  const { verb, grade, effect } = MOVES[move];
  return {
    grade,
    verb,
    object: `“${title.length > 60 ? `${title.slice(0, 60)}…` : title}”`,
    effect,
    reason: grade === 2 ? 'required' : 'optional',
    run: async ({ reason }) => {
      const { finding } = await request(ROUTES[move], {
        params: { id },
        body: { ...(reason !== undefined && { reason }) },
      });
      return `now ${finding.status}`;
    },
  };
}
