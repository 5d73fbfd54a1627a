const CODE = /`([^`]+)`/;

/** The title of an issue; what is between backticks is shown as code, as on the host. */
export function TitleText({ text }: { text: string }) {
  // Every second part of the split is code.
  return text.split(CODE).map((part, index) => {
    const key = `${index} ${part}`;
    return index % 2 === 1 ? <code key={key}>{part}</code> : part;
  });
}
