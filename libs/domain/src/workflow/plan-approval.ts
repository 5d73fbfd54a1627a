import type { State } from '../states.ts';
import type { Trigger, WorkflowSnapshot } from './workflow.ts';

/**
 * The state of a plan. `pending` waits for a person; `withdrawn` was left without an answer, because the issue moved on
 * or a newer version replaced it.
 */
export const PLAN_STATUSES = ['pending', 'approved', 'rejected', 'withdrawn'] as const;
export type PlanStatus = (typeof PLAN_STATUSES)[number];

type Edge = WorkflowSnapshot['edges'][number];

/** The edges of plan approval. `planned` leads to the waiting state instead of to development. */
const APPROVAL_EDGES: readonly Edge[] = [
  { from: 'human-review-ready', to: 'ready-for-dev', trigger: 'plan-approved' },
  { from: 'human-review-ready', to: 'planning', trigger: 'plan-rejected' },
];

const isApprovalTrigger = (trigger: Trigger): boolean => APPROVAL_EDGES.some((edge) => edge.trigger === trigger);

const isSame = (a: Edge, b: Edge): boolean => a.from === b.from && a.to === b.to && a.trigger === b.trigger;

/** Returns whether a new plan waits for the approval of a person before development. */
export const requiresPlanApproval = ({ edges }: WorkflowSnapshot): boolean =>
  edges.some(({ to, trigger }) => trigger === 'planned' && to === 'human-review-ready');

/** Returns the workflow with or without plan approval. Everything else is kept. */
export function withPlanApproval(workflow: WorkflowSnapshot, mode: 'required' | 'off'): WorkflowSnapshot {
  const [from, to]: [State, State] =
    mode === 'required' ? ['ready-for-dev', 'human-review-ready'] : ['human-review-ready', 'ready-for-dev'];
  const edges = workflow.edges
    .filter(({ trigger }) => !isApprovalTrigger(trigger))
    .map((edge) => (edge.trigger === 'planned' && edge.to === from ? { ...edge, to } : edge));
  return { ...workflow, edges: mode === 'required' ? [...edges, ...APPROVAL_EDGES] : edges };
}

/** Problems of the edges of plan approval, a line each. */
export function planApprovalErrors(workflow: WorkflowSnapshot): string[] {
  const { edges } = workflow;
  const strange = edges.filter(
    (edge) => isApprovalTrigger(edge.trigger) && !APPROVAL_EDGES.some((known) => isSame(known, edge)),
  );
  const missing = requiresPlanApproval(workflow)
    ? APPROVAL_EDGES.filter((known) => !edges.some((edge) => isSame(known, edge)))
    : [];
  return [...strange.map(strangeEdge), ...missing.map(missingEdge)];
}

function strangeEdge({ from, to, trigger }: Edge): string {
  const known = APPROVAL_EDGES.find((edge) => edge.trigger === trigger);
  return `edge ${from} -> ${to} (${trigger}): ${trigger} must lead from ${known?.from} to ${known?.to}`;
}

const missingEdge = ({ from, to, trigger }: Edge): string =>
  `an edge from ${from} to ${to} on ${trigger} is missing: planned leads to ${from}`;

/**
 * The status of a pending plan after its issue moves. A stop keeps it, because the way back leads to the approval.
 * Another way into development is the decision of an operator, who thereby approves the plan.
 */
export function planStatusAfter(to: State, trigger: Trigger): PlanStatus {
  if (trigger === 'plan-rejected') return 'rejected';
  if (to === 'human-review-ready' || to === 'failure-blocked') return 'pending';
  return to === 'ready-for-dev' ? 'approved' : 'withdrawn';
}

/**
 * Returns the state in which an issue starts over: development needs a plan that is neither rejected nor still to be
 * approved.
 */
export function restartState(planStatus: PlanStatus | null): State {
  if (planStatus === 'pending') return 'human-review-ready';
  return planStatus === 'rejected' ? 'planning' : 'ready-for-dev';
}
