import { request } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import type { ActionPlan } from './action.ts';

export type Finding = Reply<'listConsistencyFindings'>['items'][number];
type Repair = 'clearFlag' | 'resolveSubtaskEdges' | 'enqueueOrphan' | 'linkSi' | 'deleteOrphanEdges';

interface RepairText {
  route: Repair;
  verb: string;
  effect: string;
  grade: 1 | 3;
}

/** The one repair that fits each kind of finding; label drift is repaired by the monitor itself. */
export const REPAIRS: Readonly<Record<Finding['kind'], RepairText | null>> = {
  stale_blocked: {
    route: 'clearFlag',
    verb: 'Clear the flag of',
    effect: 'A blocked issue is unblocked; otherwise only the flag is cleared.',
    grade: 1,
  },
  stale_subtask_edge: {
    route: 'resolveSubtaskEdges',
    verb: 'Resolve the subtasks of',
    effect: 'Every open subtask edge of the finished epic is marked as resolved.',
    grade: 1,
  },
  orphan_missing_from_pg: {
    route: 'enqueueOrphan',
    verb: 'Enqueue',
    effect: 'The label svc:enqueue is added on the host; the intake then creates the record.',
    grade: 1,
  },
  si_linkage_gap: {
    route: 'linkSi',
    verb: 'Complete',
    effect: 'The self-improvement issue is marked as completed.',
    grade: 1,
  },
  label_drift: null,
  orphan_dependency_edge: {
    route: 'deleteOrphanEdges',
    verb: 'Delete the orphan edges of',
    effect: 'Every edge of the finding is deleted. Deleted edges cannot be restored.',
    grade: 3,
  },
};

/** Returns the repair of a finding; null for a kind without one. Repeating a repair is safe. */
export function repairPlan({ id, kind, repoOwner, repoName, issueNumber, detail }: Finding): ActionPlan | null {
  const repair = REPAIRS[kind];
  if (repair === null) return null;
  const edges = detail.orphanEdgeIds;
  const issue = issueNumber === null ? undefined : { repo: `${repoOwner}/${repoName}`, issueNumber };
  return {
    grade: repair.grade,
    verb: repair.verb,
    object: `${repoOwner}/${repoName}${issueNumber === null ? '' : `#${issueNumber}`}`,
    effect: repair.effect,
    count: Array.isArray(edges) ? edges.length : 1,
    reason: 'optional',
    ...(issue && { issue }),
    run: async ({ reason }) => {
      const body = { ...(reason !== undefined && { reason }) };
      const { finding } = await request(repair.route, { params: { id }, body });
      return finding === null ? 'gone' : 'the finding is still there';
    },
  };
}
