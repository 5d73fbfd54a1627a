/**
 * Returns the comment, hidden from readers, with which texts of the pipeline end. Every account can write one, so a
 * marker proves something only in texts of the pipeline's own identity. `--` and `>` would end it early, so they are
 * spelled out.
 */
export const hiddenMarker = (marker: string): string =>
  `<!-- svc:${marker.replace(/[<>%]|--/g, encodeURIComponent)} -->`;

/** Returns whether a text ends with a marker. One inside a text is a quotation. */
export const endsWithMarker = (text: string): boolean => {
  const end = text.trimEnd();
  const begin = end.lastIndexOf('<!-- svc:');
  return begin >= 0 && end.endsWith(' -->') && end.indexOf('-->', begin) === end.length - '-->'.length;
};
