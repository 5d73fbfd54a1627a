import type { TaskType } from '../task-types.ts';
import type { IntelligenceKind } from './items.ts';

/** Who asks for intelligence: each sees other kinds first. */
export const RETRIEVAL_AGENTS = ['analyzer', 'planner', 'developer', 'reviewer', 'retrospector'] as const;
export type RetrievalAgent = (typeof RETRIEVAL_AGENTS)[number];

/** Whose work it is; a merge and a scan need no intelligence. */
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

/** What is beside an agent's own concern counts a little more than half. */
export const kindWeight = (agent: RetrievalAgent, kind: IntelligenceKind): number =>
  KINDS_OF[agent].includes(kind) ? 1 : 0.6;

/** What is known of how well an item fits; all from 0 to 1, 0 = not at all. */
export interface Fit {
  /** By the words of the text, 1 = as well as the best one. */
  text: number;
  /** By what it is about: a file that is planned or changed, a folder around it, a name. */
  scope: number;
  /** 1 = learnt from an issue like this one. */
  precedent: number;
  /** Cosine of the meanings; 0 where none is known. */
  meaning: number;
  /** 1 = holds for the whole repo. */
  repoWide: number;
}

export interface Trust {
  kind: IntelligenceKind;
  status: 'approved' | 'proposed' | 'observed';
  confidence: number | null;
  qualityScore: number | null;
}

const STATUS_WEIGHT: Record<Trust['status'], number> = { approved: 1, proposed: 0.8, observed: 0.6 };

/** How well an item fits in all, whoever asks. */
export const sumOfFit = ({ text, scope, precedent, meaning, repoWide }: Fit): number =>
  text + 1.5 * scope + 0.5 * precedent + Math.max(0, meaning) + 0.25 * repoWide;

/**
 * How much an item is worth to an agent: the sum of how it fits, weighed by who asks and by how far it is trusted.
 * Grows with each part; 0 for what fits in no way.
 */
export function relevance(agent: RetrievalAgent, fit: Fit, { kind, status, ...trust }: Trust): number {
  const trusted = 0.5 + 0.5 * (trust.qualityScore ?? trust.confidence ?? 0.5);
  return sumOfFit(fit) * kindWeight(agent, kind) * STATUS_WEIGHT[status] * trusted;
}

/** Less than this and an item is not shown to agents. */
export const MIN_CONFIDENCE = 0.3;

/** What becomes of what agents report before an operator has approved it. */
export const AGENT_KNOWLEDGE = ['marked', 'approved'] as const;
export type AgentKnowledge = (typeof AGENT_KNOWLEDGE)[number];
