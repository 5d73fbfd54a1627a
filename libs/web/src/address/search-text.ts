/** Parameters of an address as flat text; the router's own form would quote numbers. */
export const parseSearch = (text: string): Record<string, string> => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  if (given.length === 0) return '';
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `?${text.replaceAll('%2F', '/').replaceAll('%2C', ',')}`;
}
