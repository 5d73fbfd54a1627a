interface Entry {
  kind: string;
  title: string;
}

/** Returns the title of an entry of a timeline; a host write such as `swapLabels on the host` in words. */
export const titleInWords = ({ kind, title }: Entry): string => (kind === 'projection' ? wordsOf(title) : title);

const wordsOf = (title: string): string =>
  title
    .replaceAll(/([a-z])([A-Z]+)/g, '$1 $2')
    .toLowerCase()
    .replace(/\bpr\b/, 'pull request')
    .replace('swap labels', 'change labels');
