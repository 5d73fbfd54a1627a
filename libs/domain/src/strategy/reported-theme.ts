/** Prefix of themes that strategy derived from a category of findings, which is text of an agent. */
const MARK = 'agent report: ';

/** The theme for a category of findings, whose origin is visible in every issue with it. */
export const reportedTheme = (category: string, maxLength: number): string => (MARK + category).slice(0, maxLength);

/** A theme in the form used by charters and tracks. */
export const plainTheme = (theme: string | undefined): string =>
  theme === undefined ? '' : theme.startsWith(MARK) ? theme.slice(MARK.length) : theme;
