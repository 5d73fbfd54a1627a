import type { TaskType } from '../task-types.ts';
import type { IntelligenceKind } from './items.ts';

/** The role of the requesting agent, which decides the preferred kinds. */
export const RETRIEVAL_AGENTS = ['analyzer', 'planner', 'developer', 'reviewer', 'retrospector'] as const;
export type RetrievalAgent = (typeof RETRIEVAL_AGENTS)[number];

/** The role for each task type; a merge and a scan need no intelligence. */
export const RETRIEVAL_AGENT_OF: Partial<Record<TaskType, RetrievalAgent>> = {
  analyze: 'analyzer',
  plan: 'planner',
  develop: 'developer',
  review: 'reviewer',
  retrospect: 'retrospector',
};

export const OMISSION_REASONS = [
  'budget',
  'low_confidence',
  'status',
  'duplicate',
  'out_of_scope',
  'evidence_missing',
] as const;
export type OmissionReason = (typeof OMISSION_REASONS)[number];

/** How a candidate file was found. */
export const FILE_METHODS = [
  'planned',
  'changed',
  'path',
  'symbol',
  'text',
  'trigram',
  'precedent',
  'intelligence',
] as const;
export type FileMethod = (typeof FILE_METHODS)[number];

/** Where the changed files of a review come from. */
export const CHANGED_FILES_SOURCES = ['stored', 'not_applicable', 'unavailable'] as const;
export type ChangedFilesSource = (typeof CHANGED_FILES_SOURCES)[number];

const KINDS_OF: Record<RetrievalAgent, readonly IntelligenceKind[]> = {
  analyzer: ['architecture', 'design_decision', 'operator_preference', 'risk_area', 'coupling'],
  planner: ['architecture', 'workflow_playbook', 'invariant', 'coupling', 'test_strategy', 'design_decision'],
  developer: [
    'invariant',
    'implementation_note',
    'failure_pattern',
    'test_strategy',
    'coupling',
    'operator_preference',
  ],
  reviewer: ['invariant', 'risk_area', 'failure_pattern', 'test_strategy', 'operator_preference', 'design_decision'],
  retrospector: ['failure_pattern', 'workflow_playbook', 'design_decision', 'risk_area'],
};

/** The weight of kinds outside of an agent's preference is a little more than half. */
const kindWeight = (agent: RetrievalAgent, kind: IntelligenceKind): number =>
  KINDS_OF[agent].includes(kind) ? 1 : 0.6;

/** The partial scores of an item; all from 0 to 1, 0 = no match. */
export interface Fit {
  /** By the words of the text, 1 = as high as the best item. */
  text: number;
  /** By its scope: a planned or changed file, a folder around it, a name. */
  scope: number;
  /** 1 = derived from a similar issue. */
  precedent: number;
  /** Cosine similarity; 0 where no vector is known. */
  meaning: number;
  /** 1 = applies to the whole repo. */
  repoWide: number;
}

interface Trust {
  kind: IntelligenceKind;
  status: 'approved' | 'proposed' | 'observed';
  confidence: number | null;
  qualityScore: number | null;
}

const STATUS_WEIGHT: Record<Trust['status'], number> = { approved: 1, proposed: 0.8, observed: 0.6 };

/** The total match score of an item, for any role. */
export const sumOfFit = ({ text, scope, precedent, meaning, repoWide }: Fit): number =>
  text + 1.5 * scope + 0.5 * precedent + Math.max(0, meaning) + 0.25 * repoWide;

/**
 * The relevance of an item for an agent: the sum of its scores, weighted by role and by trust. Increases with each
 * score; 0 without any match.
 */
export function relevance(agent: RetrievalAgent, fit: Fit, { kind, status, ...trust }: Trust): number {
  const trusted = 0.5 + 0.5 * (trust.qualityScore ?? trust.confidence ?? 0.5);
  return sumOfFit(fit) * kindWeight(agent, kind) * STATUS_WEIGHT[status] * trusted;
}

/** Items below this relevance are not given to agents. */
export const MIN_CONFIDENCE = 0.3;

/** Handling of agents' reports before an operator has approved them. */
export const AGENT_KNOWLEDGE = ['marked', 'approved'] as const;
export type AgentKnowledge = (typeof AGENT_KNOWLEDGE)[number];
