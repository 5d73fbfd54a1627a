/** Id of the latest event that this tab has seen, or that what it reads contains. */
let latest: number | null = null;

export const lastEventId = (): number | null => latest;

export const saw = (id: number): void => {
  latest = Math.max(latest ?? 0, id);
};

/** Begins after an event. A tab that has a position keeps it: the events since then are replayed. */
export function startFrom(id: string | null): void {
  if (latest === null && id !== null && /^\d{1,15}$/.test(id)) latest = Number(id);
}
