import { useLayoutEffect, useRef } from 'react';
import styles from './markdown.module.css';
import { renderMarkdown } from './render.ts';
import { ScrolledText } from './scrolled-text.tsx';

interface MarkdownProps {
  text: string;
  /** Level of the heading above the document. */
  under: number;
}

/** A longer document is shown as plain text: rendering would block the page. */
const MOST_CHARACTERS = 200_000;

/** A document of an agent, rendered. */
export default function Markdown({ text, under }: MarkdownProps) {
  const element = useRef<HTMLDivElement>(null);
  const isLong = text.length > MOST_CHARACTERS;
  useLayoutEffect(() => {
    if (!isLong) element.current?.replaceChildren(renderMarkdown(text, under));
  }, [text, under, isLong]);
  if (isLong) return <ScrolledText className={styles.plain}>{text}</ScrolledText>;
  return <div ref={element} className={styles.document} />;
}
