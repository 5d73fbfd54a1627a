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
const isoWeek = z.string().meta({ description: 'ISO 8601 week, UTC.', example: '2026-W47' });
const track = z.string().meta({ description: 'Track name.', example: 'tests' });

const Change = z.object({
  track,
  field: z.enum(STRATEGY_FIELDS),
  from: z
    .unknown()
    .meta({ description: 'Expected current value. The change is applied only while the track still has it.' }),
  to: z.unknown(),
  rule: z.string().meta({ description: 'Rule that produced the change.', example: 'regressed-kpi' }),
  reason: z.string().meta({ description: 'Reason in one sentence, for the approver.' }),
  evidence: z.array(z.string()).meta({ description: 'References to the supporting evidence.' }),
  about: z.array(z.string()).meta({ description: 'Related KPIs, and types, categories and severities of findings.' }),
});

/** interface: Strategy, snapshot. */
export const StrategySnapshot = z
  .object({
    version,
    status: z.enum(SNAPSHOT_STATUSES),
    intent: z.string().meta({ description: 'Purpose in one line.' }),
    rationale: z.string().meta({ description: 'Rationale: one line per change, and open points.' }),
    parentVersion: version.nullable().meta({ description: 'Active snapshot at the time of the proposal.' }),
    charterVersion: version.nullable(),
    proposedBy: z.string(),
    createdAt: Timestamp,
    isoWeek: isoWeek.nullable().meta({ description: 'Null for a manual proposal.' }),
    source: z.enum(STRATEGY_SOURCES),
    changes: z.array(Change),
    slate: z
      .array(z.object({ track, size: z.enum(SLATE_SIZES), count: z.int().positive() }))
      .meta({ description: 'Work that the tracks create under this snapshot.' }),
    risk: z.object({
      maxSize: z.enum(SLATE_SIZES).meta({ description: 'Largest work size that the snapshot increases.' }),
      withinEnvelope: z.boolean(),
      violations: z
        .array(z.string())
        .meta({ description: 'Violations of the charter. A snapshot with violations cannot be applied.' }),
      needsApproval: z
        .array(z.string())
        .meta({ description: 'Reasons why operator approval is required. Empty = not required.' }),
    }),
    evidence: z.array(z.object({ kind: z.string(), ref: z.string(), summary: z.string() })),
    approvedAt: Timestamp.nullable(),
    approvedBy: z.string().nullable(),
    activatedAt: Timestamp.nullable(),
    supersededAt: Timestamp.nullable(),
    supersededBy: version.nullable().meta({ description: 'Version of the snapshot that replaced this one.' }),
    rejectedAt: Timestamp.nullable(),
    rejectionReason: z.string().nullable(),
    costUsd: z.number().nonnegative().nullable(),
  })
  .meta({
    id: 'StrategySnapshot',
    description: 'A set of track changes of a repo that is approved or rejected as a whole.',
  });

/** interface: Strategy, charter. */
export const StrategyCharter = z
  .object({
    version,
    goals: z.string(),
    envelope: CharterEnvelope,
    author: z.string(),
    created_at: Timestamp,
  })
  .meta({ id: 'StrategyCharter', description: 'Goals and risk envelope of self-improvement in a repo.' });

/** interface: Strategy, run state. */
export const StrategyRun = z
  .object({
    outcome: z.enum(STRATEGY_OUTCOMES),
    failureReason: z.string().nullable().meta({ description: 'Reason of a failed or skipped cycle.' }),
    costUsd: z.number().nonnegative().nullable(),
    nextDueAt: Timestamp,
    createdAt: Timestamp,
    consecutiveFailures: z.int().nonnegative(),
    isoWeek,
    snapshotVersion: version.nullable().meta({ description: 'Snapshot created by the cycle.' }),
  })
  .meta({ id: 'StrategyRun', description: 'Latest weekly strategy cycle of a repo.' });

/** interface: automation toggle. */
export const StrategyAutomation = z
  .object({
    enabled: z.boolean(),
    cadence: z.literal('weekly'),
    lastProposedIsoWeek: isoWeek.nullable(),
    nextProposalAt: Timestamp.nullable().meta({
      description: 'Null while automation is off or the repo has no charter.',
    }),
    updatedAt: Timestamp.nullable(),
    updatedBy: z.string().nullable(),
  })
  .meta({ id: 'StrategyAutomation', description: 'Setting for automatic weekly proposals.' });

const snapshotOnWire: (row: DomainSnapshot) => z.input<typeof StrategySnapshot> = (row) => row;
const charterOnWire: (row: DomainCharter) => z.input<typeof StrategyCharter> = (row) => row;
const runOnWire: (row: DomainRun) => z.input<typeof StrategyRun> = (row) => row;
const automationOnWire: (row: DomainAutomation) => z.input<typeof StrategyAutomation> = (row) => row;
void [snapshotOnWire, charterOnWire, runOnWire, automationOnWire];
