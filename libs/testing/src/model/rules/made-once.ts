import type { World } from '../world/world.ts';

/**
 * Objects on the host that exist more often than requested: a doubtful attempt was repeated blindly. Every issue and
 * pull request of the pipeline has the marker of its entry.
 */
export async function madeTwice({ database, host }: Pick<World, 'database' | 'host'>): Promise<string[]> {
  const rows = await database.db.selectFrom('projections').select('action').execute();
  const asked = new Map<string, number>();
  for (const { action } of rows) {
    const { type, marker } = action as { type: string; marker?: string };
    if (marker && (type === 'createIssue' || type === 'createPR')) asked.set(marker, (asked.get(marker) ?? 0) + 1);
  }
  const bodies = [...host.state.issues.values(), ...host.state.pulls.values()].map(({ body }) => body);
  return [...asked]
    .map(([marker, times]) => ({
      marker,
      times,
      made: bodies.filter((body) => body.includes(`<!-- ${marker} -->`)).length,
    }))
    .filter(({ made, times }) => made > times)
    .map(({ marker, times, made }) => `${marker}: asked for ${times}, made ${made}`);
}
