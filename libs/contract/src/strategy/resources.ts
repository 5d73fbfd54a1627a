import {
  CharterEnvelope,
  type StrategyAutomation as DomainAutomation,
  type StrategyCharter as DomainCharter,
  type StrategyRun as DomainRun,
  type StrategySnapshot as DomainSnapshot,
  SLATE_SIZES,
  SNAPSHOT_STATUSES,
  STRATEGY_FIELDS,
  STRATEGY_OUTCOMES,
  STRATEGY_SOURCES,
} from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

const version = z.int().positive();
const isoWeek = z.string().meta({ description: 'Week by ISO 8601, in UTC.', example: '2026-W47' });
const track = z.string().meta({ description: 'Name of the track.', example: 'tests' });

const Change = z.object({
  track,
  field: z.enum(STRATEGY_FIELDS),
  from: z.unknown().meta({ description: 'What the track must still say when the change is applied.' }),
  to: z.unknown(),
  rule: z.string().meta({ description: 'The rule that it comes from.', example: 'regressed-kpi' }),
  reason: z.string().meta({ description: 'In a sentence, for whoever decides.' }),
  evidence: z.array(z.string()).meta({ description: 'Refs of the evidence that it rests on.' }),
  about: z.array(z.string()).meta({ description: 'KPIs, and types, categories and severities of findings.' }),
});

/** interface: Strategy, snapshot. */
export const StrategySnapshot = z
  .object({
    version,
    status: z.enum(SNAPSHOT_STATUSES),
    intent: z.string().meta({ description: 'What it is for, in a line.' }),
    rationale: z.string().meta({ description: 'Why: a line for each change, and what it leaves open.' }),
    parentVersion: version.nullable().meta({ description: 'The active snapshot on which it was made.' }),
    charterVersion: version.nullable(),
    proposedBy: z.string(),
    createdAt: Timestamp,
    isoWeek: isoWeek.nullable().meta({ description: 'null where a person proposed it.' }),
    source: z.enum(STRATEGY_SOURCES),
    changes: z.array(Change),
    slate: z
      .array(z.object({ track, size: z.enum(SLATE_SIZES), count: z.int().positive() }))
      .meta({ description: 'What work the tracks ask for under it.' }),
    risk: z.object({
      maxSize: z.enum(SLATE_SIZES).meta({ description: 'The largest size of work that it asks more of.' }),
      withinEnvelope: z.boolean(),
      violations: z.array(z.string()).meta({ description: 'What the charter forbids; it cannot be applied.' }),
      needsApproval: z.array(z.string()).meta({ description: 'Why it waits for an operator; empty = it need not.' }),
    }),
    evidence: z.array(z.object({ kind: z.string(), ref: z.string(), summary: z.string() })),
    approvedAt: Timestamp.nullable(),
    approvedBy: z.string().nullable(),
    activatedAt: Timestamp.nullable(),
    supersededAt: Timestamp.nullable(),
    supersededBy: version.nullable().meta({ description: 'Version of the snapshot that took its place.' }),
    rejectedAt: Timestamp.nullable(),
    rejectionReason: z.string().nullable(),
    costUsd: z.number().nonnegative().nullable(),
  })
  .meta({ id: 'StrategySnapshot', description: 'Changes to the tracks of a repo, decided upon as one.' });

/** interface: Strategy, charter. */
export const StrategyCharter = z
  .object({
    version,
    goals: z.string(),
    envelope: CharterEnvelope,
    author: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'StrategyCharter', description: 'What self-improvement is for, and how far it may go.' });

/** interface: Strategy, run state. */
export const StrategyRun = z
  .object({
    outcome: z.enum(STRATEGY_OUTCOMES),
    failureReason: z.string().nullable().meta({ description: 'Of a cycle that failed or was skipped.' }),
    costUsd: z.number().nonnegative().nullable(),
    nextDueAt: Timestamp,
    createdAt: Timestamp,
    consecutiveFailures: z.int().nonnegative(),
    isoWeek,
    snapshotVersion: version.nullable().meta({ description: 'The snapshot that it made.' }),
  })
  .meta({ id: 'StrategyRun', description: 'The latest weekly cycle of a repo.' });

/** interface: automation toggle. */
export const StrategyAutomation = z
  .object({
    enabled: z.boolean(),
    cadence: z.literal('weekly'),
    lastProposedIsoWeek: isoWeek.nullable(),
    nextProposalAt: Timestamp.nullable().meta({ description: 'null while it is off or there is no charter.' }),
    updatedAt: Timestamp.nullable(),
    updatedBy: z.string().nullable(),
  })
  .meta({ id: 'StrategyAutomation', description: 'Whether a proposal is made every week.' });

const snapshotOnWire: (row: DomainSnapshot) => z.input<typeof StrategySnapshot> = (row) => row;
const charterOnWire: (row: DomainCharter) => z.input<typeof StrategyCharter> = (row) => row;
const runOnWire: (row: DomainRun) => z.input<typeof StrategyRun> = (row) => row;
const automationOnWire: (row: DomainAutomation) => z.input<typeof StrategyAutomation> = (row) => row;
void [snapshotOnWire, charterOnWire, runOnWire, automationOnWire];
