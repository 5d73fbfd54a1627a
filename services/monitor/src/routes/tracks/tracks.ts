import type { siTrackRoutes, trackRoutes } from '@pipeline/contract';
import { AppError, parseSlug, TrackName } from '@pipeline/domain';
import {
  type Engine,
  type FleetTrack,
  listAllTracks,
  listTracks,
  putTrack,
  removeTrack,
  updateTrackAt,
} from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { actorOf } from '../../auth/actor.ts';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof trackRoutes, Authentication>;

/** Returns the key of a track from a path and a query. */
export const trackAt = ({ params, query }: { params: TrackParams; query: { tenant?: string | undefined } }) => ({
  ...params,
  tenant: query.tenant,
});

interface TrackParams {
  owner: string;
  repo: string;
  name: string;
}

/**
 * interface: Tracks.
 * @param deps read at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const trackHandlers = (deps: () => { engine: Engine }): Handlers => {
  const ok = { status: 200, body: { ok: true } } as const;
  return {
    listTracks: async ({ query }) => {
      const tracks = await listTracks(deps().engine, { ...slugOf(query.repo), tenant: query.tenant });
      return { status: 200, body: { tracks } };
    },
    putTrack: async ({ body, query, identity }) => {
      const { repo, reason, ...track } = body;
      requireName(track.name);
      await putTrack(deps().engine, { ...slugOf(repo), tenant: query.tenant }, track, actorOf(identity, reason));
      return ok;
    },
    updateTrack: async (call) => {
      const { reason, ...change } = call.body;
      const operation = { action: 'track-update', actor: actorOf(call.identity, reason) };
      await updateTrackAt(deps().engine, trackAt(call), change, operation);
      return ok;
    },
    deleteTrack: async (call) => {
      await removeTrack(deps().engine, trackAt(call), actorOf(call.identity, call.body.reason));
      return ok;
    },
    enableTrack: async (call) => {
      const operation = { action: 'track-enable', actor: actorOf(call.identity, call.body.reason) };
      await updateTrackAt(deps().engine, trackAt(call), { enabled: true }, operation);
      return ok;
    },
    disableTrack: async (call) => {
      const operation = { action: 'track-disable', actor: actorOf(call.identity, call.body.reason) };
      await updateTrackAt(deps().engine, trackAt(call), { enabled: false }, operation);
      return ok;
    },
    setTrackCooldown: async (call) => {
      const { cooldown_minutes, reason } = call.body;
      const operation = { action: 'track-cooldown', actor: actorOf(call.identity, reason) };
      await updateTrackAt(deps().engine, trackAt(call), { cooldown_minutes }, operation);
      return ok;
    },
  };
};

/** interface: metric SI Tracks. */
export const siTrackHandlers = (deps: () => { engine: Engine }): HandlersOf<typeof siTrackRoutes, Authentication> => {
  const all = async () => {
    const tracks = await listAllTracks(deps().engine);
    return { status: 200, body: { items: tracks.map(entryOf), snapshot: true } } as const;
  };
  return { listSiTracks: all, pipelineSiTracks: all, pipelineSiTracksByName: all };
};

function slugOf(repo: string): { owner: string; repo: string } {
  const slug = parseSlug(repo);
  if (!slug) throw new AppError('INVALID_BODY', `repo must be owner/repo, got "${repo}"`);
  return { owner: slug.owner, repo: slug.name };
}

function requireName(name: string): void {
  const { error } = TrackName.safeParse(name);
  if (error) throw new AppError('INVALID_BODY', `name: ${error.issues[0]?.message}`);
}

const entryOf = (track: FleetTrack) => ({
  repo: `${track.owner}/${track.repo_name}`,
  tenant: track.tenant,
  name: track.name,
  label: track.label,
  enabled: track.enabled,
  cadenceKind: track.cadence.kind,
  cooldownMinutes: track.cadence.kind === 'cooldown' ? track.cooldown_minutes : null,
  cronExpr: track.cadence.kind === 'cron' ? track.cadence.expr : null,
  lastRunAt: track.last_run_at,
  nextRunAt: track.next_run_at,
  overdue: track.overdue,
  activeVersion: track.active_version,
  weight: track.weight,
});
