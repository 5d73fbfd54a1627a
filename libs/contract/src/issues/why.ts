import { CHECK_STATES, ERROR_CLASSES, STATES, TASK_TYPES, TRIGGERS, WAIT_KINDS } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';
import { TraceId } from '../wire/trace-id.ts';

/** A change of an issue's state. */
export const StateTransition = z
  .object({
    from: z.enum(STATES).nullable(),
    to: z.enum(STATES),
    at: Timestamp,
    agent: z
      .string()
      .nullable()
      .meta({ description: 'Agent whose outcome caused the transition. Null for operators and background loops.' }),
    actorType: z.enum(['agent', 'workflow-engine', 'operator', 'system']),
    actorId: z.string().nullable(),
    reason: z.string().nullable(),
    forced: z.boolean().meta({ description: 'True when an operator chose the target state.' }),
    durationInFromMs: z.number().nullable().meta({ description: 'Time spent in the previous state, in milliseconds.' }),
  })
  .meta({ id: 'StateTransition' });

const Wait = z
  .object({
    kind: z.enum(WAIT_KINDS),
    ref: z.string().nullable().meta({
      description:
        'Object that the issue waits for: a worker id, `#N`, `owner/name#N`, or the id of a host write, dead letter or finding.',
    }),
    detail: z.string().meta({
      description: 'Text that completes the sentence "it waits for …".',
      example: 'a free worker to claim its review task',
    }),
    since: Timestamp.nullable(),
  })
  .meta({ id: 'Wait' });

/** A change of an issue's title or body by a user without write permission. */
const TextChange = z
  .object({
    changedAt: Timestamp.meta({ description: 'Time on the clock of the version-control host, in whole seconds.' }),
    changedBy: z
      .string()
      .nullable()
      .meta({ description: 'Login of the author. Null when the host did not report it.' }),
    sha256: z.string().meta({
      description: 'SHA-256 of the changed title, a line feed and the changed body, in hexadecimal.',
      example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    }),
  })
  .meta({ id: 'TextChange' });

export const IssueWhy = z
  .object({
    repo: z.string().meta({ description: '`owner/name` in the case used by the host.', example: 'acme/shop' }),
    issueNumber: z.int(),
    title: z.string(),
    state: z.enum(STATES),
    stateEnteredAt: Timestamp,
    isBlocked: z.boolean(),
    isPaused: z.boolean(),
    blockReason: z.string().nullable(),
    blockClassification: z.enum(ERROR_CLASSES).nullable(),
    blockedFromState: z.enum(STATES).nullable(),
    explanation: z.string().meta({
      description: 'Human-readable explanation in one sentence.',
      example:
        'acme/shop#7 is in review and waits for a free worker to claim its review task, since 2026-01-02 03:04 UTC.',
    }),
    waitingOn: z
      .array(Wait)
      .meta({ description: 'What the issue waits for, most important first. Empty when the issue is done.' }),
    recentTransitions: z.array(StateTransition).meta({ description: 'Latest transitions, newest first; at most 20.' }),
    lastError: z
      .object({
        message: z.string(),
        agentName: z.string().nullable(),
        errorPattern: z
          .string()
          .nullable()
          .meta({ description: 'Message with variable parts (numbers, paths, names, times) removed.' }),
        fingerprint: z.string().nullable(),
        occurredAt: Timestamp,
      })
      .nullable()
      .meta({ description: 'Error of the latest failed run.' }),
    activeTasks: z.array(
      z.object({
        taskType: z.enum(TASK_TYPES),
        status: z.enum(['pending', 'claimed']),
        claimedBy: z.string().nullable(),
      }),
    ),
    recommendations: z.array(z.string()).meta({ description: 'Suggested actions.' }),
    checks: z
      .array(
        z.object({
          name: z.string(),
          state: z.enum(CHECK_STATES),
          conclusion: z.string().nullable().meta({ description: 'Result as the host reports it.' }),
          url: z.string().nullable(),
        }),
      )
      .meta({
        description: 'Check runs and commit statuses of the head of the pull request, by name, at most 100.',
      }),
    rounds: z
      .array(
        z.object({
          from: z.enum(STATES).meta({ description: 'State that the issue left.' }),
          trigger: z.enum(TRIGGERS).meta({ description: 'What sent it back.', example: 'changes-requested' }),
          count: z.int().positive().meta({ description: 'Rounds since the last action of a person.' }),
          max: z.int().positive().meta({
            description: 'Limit of the repository (`maxRounds`): the next round after it asks a person.',
          }),
        }),
      )
      .meta({ description: 'Rounds without progress, by edge of the workflow. Empty when nothing was repeated.' }),
    textChange: TextChange.nullable().meta({
      description:
        'Set when a user without write permission changed the title or body on the host after the issue was enqueued. Agents use the enqueued text until an operator accepts the change.',
    }),
    traceId: TraceId.meta({ description: 'Trace that the runs of the issue are exported to (W3C Trace Context).' }),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'IssueWhy', description: 'Explains the current state of an issue.' });
