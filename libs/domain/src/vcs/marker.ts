/**
 * What the pipeline writes ends with a comment that no reader sees. Anybody can write one, so a marker says something
 * only about texts of the pipeline's own identity. `--` and `>` would end it early, so they are spelled out.
 */
export const hiddenMarker = (marker: string): string =>
  `<!-- svc:${marker.replace(/[<>%]|--/g, encodeURIComponent)} -->`;

/** Whether a text ends with a marker. One inside a text is a quotation. */
export const endsWithMarker = (text: string): boolean => {
  const end = text.trimEnd();
  const begin = end.lastIndexOf('<!-- svc:');
  return begin >= 0 && end.endsWith(' -->') && end.indexOf('-->', begin) === end.length - '-->'.length;
};
