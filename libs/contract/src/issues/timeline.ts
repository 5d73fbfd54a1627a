import { STATES } from '@pipeline/domain';
import { z } from 'zod';
import { UnreportedCosts } from '../costs/by-window.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { StateTransition } from './why.ts';

const TimelineEntry = z
  .object({
    id: z.string(),
    timestamp: Timestamp,
    kind: z.enum([
      'transition',
      'agent-run',
      'event',
      'cost',
      'projection',
      'finding',
      'operator-action',
      'dead-letter',
    ]),
    title: z.string(),
    agent: z.string().nullable(),
    actorType: z.enum(['agent', 'workflow-engine', 'operator', 'system']).nullable(),
    actorId: z.string().nullable(),
    fromState: z.enum(STATES).nullable(),
    toState: z.enum(STATES).nullable(),
    status: z.string().nullable(),
    taskId: z.string().nullable(),
    runId: z.int().nullable(),
    prNumber: z.int().nullable(),
    durationMs: z.number().nullable(),
    costUsd: z
      .number()
      .nullable()
      .meta({ description: 'Reported cost of a run in USD. Null = unreported, or not a run.' }),
    error: z.string().nullable(),
    details: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'TimelineEntry' });

/** Timeline of an issue. */
export const IssueTimeline = z
  .object({
    repo: z.string(),
    issueNumber: z.int(),
    title: z.string(),
    entries: z.array(TimelineEntry).meta({ description: 'Oldest first.' }),
    totalCostUsd: z.number().meta({ description: 'Sum of the reported costs in USD.' }),
    unreportedCosts: UnreportedCosts,
    totalDurationMs: z
      .number()
      .meta({ description: 'Time from pipeline entry until completion, or until now, in milliseconds.' }),
    currentState: z.enum(STATES),
    staleSinceMs: z.number().optional(),
    stateTransitions: z.array(StateTransition).meta({ description: 'Oldest first.' }),
    isPaused: z.boolean(),
    isBlocked: z.boolean(),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'IssueTimeline' });
