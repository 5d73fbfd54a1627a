import type { trackPromptRoutes } from '@pipeline/contract';
import { AppError, parseIssueNumber as parsePositive } from '@pipeline/domain';
import { activatePrompt, addPrompt, type Engine, listPrompts, readPrompt } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication } from '../../auth/authentication.ts';
import { trackAt } from './tracks.ts';

type Handlers = HandlersOf<typeof trackPromptRoutes, Authentication>;

/**
 * interface: Tracks, prompts.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const trackPromptHandlers = (deps: () => { engine: Engine }): Handlers => ({
  listTrackPrompts: async (call) => ({
    status: 200,
    body: { versions: await listPrompts(deps().engine, trackAt(call)) },
  }),

  createTrackPrompt: async (call) => {
    const { reason, ...texts } = call.body;
    const version = await addPrompt(deps().engine, trackAt(call), texts, actorOf(call.identity, reason));
    return { status: 200, body: { version } };
  },

  readTrackPrompt: async (call) => {
    const prompt = await readPrompt(deps().engine, trackAt(call), versionOf(call.params.version));
    const { version, seed_title, seed_body, instructions } = prompt;
    return { status: 200, body: { prompt: { version, seed_title, seed_body, instructions } } };
  },

  activateTrackPrompt: async (call) => {
    const actor = actorOf(call.identity, call.body.reason);
    await activatePrompt(deps().engine, trackAt(call), versionOf(call.params.version), actor);
    return { status: 200, body: { ok: true } };
  },
});

/** Parses the number of a version; any other text is the name of no version. */
function versionOf(segment: string): number {
  const version = parsePositive(segment);
  if (version === null) throw new AppError('NOT_FOUND', `Version ${segment} not found`);
  return version;
}
