import { ERROR_CLASSES, STATES, TASK_TYPES, WAIT_KINDS } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../wire/envelopes.ts';

/** A move of an issue from one state to another. */
export const StateTransition = z
  .object({
    from: z.enum(STATES).nullable(),
    to: z.enum(STATES),
    at: Timestamp,
    agent: z.string().nullable().meta({ description: 'Whose outcome it was; null for people and loops.' }),
    actorType: z.enum(['agent', 'workflow-engine', 'operator', 'system']),
    actorId: z.string().nullable(),
    reason: z.string().nullable(),
    forced: z.boolean().meta({ description: 'An operator chose the target.' }),
    durationInFromMs: z.number().nullable().meta({ description: 'Milliseconds in the state that it left.' }),
  })
  .meta({ id: 'StateTransition' });

export const Wait = z
  .object({
    kind: z.enum(WAIT_KINDS),
    ref: z.string().nullable().meta({
      description: 'What it is about: a worker, `#N`, `owner/name#N`, or the id of a write, letter or finding.',
    }),
    detail: z
      .string()
      .meta({ description: 'Completes "it waits for …".', example: 'a free worker to take its review task' }),
    since: Timestamp.nullable(),
  })
  .meta({ id: 'Wait' });

/** What somebody without write permission changed of an issue's text. */
export const TextChange = z
  .object({
    changedAt: Timestamp.meta({ description: 'By the clock of the host, in whole seconds.' }),
    changedBy: z.string().nullable().meta({ description: 'Login; null when the host did not report it.' }),
    sha256: z.string().meta({
      description: 'SHA-256 of title, line feed and body of the changed text, in hexadecimal.',
      example: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    }),
  })
  .meta({ id: 'TextChange' });

export const IssueWhy = z
  .object({
    repo: z.string().meta({ description: 'As the host spells it.', example: 'acme/shop' }),
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
      description: 'One sentence for people.',
      example:
        'acme/shop#7 is in review and waits for a free worker to take its review task, since 2026-01-02 03:04 UTC.',
    }),
    waitingOn: z.array(Wait).meta({ description: 'What matters most first; empty for an issue that is done.' }),
    recentTransitions: z.array(StateTransition).meta({ description: 'Newest first, at most 20.' }),
    lastError: z
      .object({
        message: z.string(),
        agentName: z.string().nullable(),
        errorPattern: z
          .string()
          .nullable()
          .meta({ description: 'The message without what differs from time to time.' }),
        fingerprint: z.string().nullable(),
        occurredAt: Timestamp,
      })
      .nullable()
      .meta({ description: 'Of the newest run that failed.' }),
    activeTasks: z.array(
      z.object({
        taskType: z.enum(TASK_TYPES),
        status: z.enum(['pending', 'claimed']),
        claimedBy: z.string().nullable(),
      }),
    ),
    recommendations: z.array(z.string()).meta({ description: 'What would bring it on.' }),
    textChange: TextChange.nullable().meta({
      description:
        'Set when title or body on the host were changed since the issue was enqueued, by somebody without write permission. Agents work on the text that was enqueued until the change is accepted.',
    }),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'IssueWhy', description: 'Why an issue is where it is.' });
