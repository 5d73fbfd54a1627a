/** Returns an id short enough to read: the start that names its kind, and its last eight characters. */
export const shortId = (id: string): string => (id.length > 24 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id);
