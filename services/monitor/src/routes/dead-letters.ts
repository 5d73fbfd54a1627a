import type { deadLetterRoutes } from '@pipeline/contract';
import { AppError } from '@pipeline/domain';
import { closeDeadLetter, type Engine, retryDeadLetter } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Logger } from '@pipeline/runtime';
import { actorOf } from '../auth/actor.ts';
import type { Authentication } from '../auth/authentication.ts';
import type { DeadLetterCache } from '../dead-letters/dead-letter-cache.ts';
import { isUuid } from './parameters/uuid.ts';

export interface DeadLetterDeps {
  engine: Engine;
  deadLetters: DeadLetterCache;
}

type Handlers = HandlersOf<typeof deadLetterRoutes, Authentication>;

/**
 * interface: Dead letters.
 * @param deps read at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const deadLetterHandlers = (deps: () => DeadLetterDeps): Handlers => ({
  listDeadLetters: ({ query }) => ({ status: 200, body: deps().deadLetters.page(query) }),

  resolveAllDeadLetters: async ({ body, identity, log }) => {
    const { engine, deadLetters } = deps();
    const all = deadLetters.all();
    const failed: string[] = [];
    for (const { id } of all) {
      await closeDeadLetter(engine, id, actorOf(identity, body.reason)).catch((error: unknown) => {
        failed.push(id);
        log.error('dead letter could not be resolved', { deadLetterId: id, error });
      });
    }
    await refresh(deadLetters, log);
    return { status: 200, body: { ok: true, resolved: all.length, failed } };
  },

  retryDeadLetter: async ({ params, body, identity, log }) => {
    const { engine, deadLetters } = deps();
    if (!isUuid(params.id)) throw new AppError('DEAD_LETTER_NOT_FOUND', `Dead letter not found: ${params.id}`);
    const newState = await retryDeadLetter(engine, params.id, actorOf(identity, body.reason));
    await refresh(deadLetters, log);
    return { status: 200, body: { ok: true, ...(newState !== undefined && { newState }) } };
  },

  resolveDeadLetter: async ({ params, body, identity, log }) => {
    const { engine, deadLetters } = deps();
    if (isUuid(params.id)) await closeDeadLetter(engine, params.id, actorOf(identity, body.reason));
    await refresh(deadLetters, log);
    return { status: 200, body: { ok: true } };
  },
});

/** The action is done; a list that cannot be read again is updated by the next poll. */
async function refresh(deadLetters: DeadLetterCache, log: Logger): Promise<void> {
  await deadLetters.refresh().catch((error: unknown) => log.warn('dead letters could not be reloaded', { error }));
}
