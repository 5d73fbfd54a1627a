/** Begins the theme of work that strategy derived from a category of findings, which is text of an agent. */
const MARK = 'agent report: ';

/** The theme of work about a category of findings: it says where it comes from in every issue that carries it. */
export const reportedTheme = (category: string, maxLength: number): string => (MARK + category).slice(0, maxLength);

/** A theme as charters and tracks name it. */
export const plainTheme = (theme: string | undefined): string =>
  theme === undefined ? '' : theme.startsWith(MARK) ? theme.slice(MARK.length) : theme;
