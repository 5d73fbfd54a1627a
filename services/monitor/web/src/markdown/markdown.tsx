import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { useLayoutEffect, useRef } from 'react';
import styles from './markdown.module.css';
import { ScrolledText } from './scrolled-text.tsx';

/** Images would be read from foreign hosts, which the content security policy refuses: they become links. */
const WITHOUT_IMAGES = { disable: { null: ['labelStartImage'] } };
const LOWEST_HEADING = 6;

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

/**
 * Renders GitHub-flavoured Markdown of agents, which is hostile input: HTML in it is shown as text, addresses other than
 * of the web and of mail are dropped, links open in a new tab without access to this page.
 * @param under level of the heading above the document.
 */
function renderMarkdown(text: string, under: number): DocumentFragment {
  const html = micromark(text, { extensions: [gfm(), WITHOUT_IMAGES], htmlExtensions: [gfmHtml()] });
  const { content } = Object.assign(document.createElement('template'), { innerHTML: html });
  for (const link of content.querySelectorAll('a')) openOutside(link);
  for (const box of content.querySelectorAll('input')) box.replaceWith(box.checked ? '☑' : '☐');
  for (const node of content.querySelectorAll('pre, table')) node.setAttribute('tabindex', '0'); // they scroll
  nestHeadings(content, under);
  return content;
}

function openOutside(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href') ?? '';
  link.removeAttribute('id');
  if (/^(?:https?:\/\/|mailto:)/i.test(href)) {
    link.target = '_blank';
    link.rel = 'noopener noreferrer nofollow';
  } else {
    link.removeAttribute('href');
  }
}

/** Headings follow the one above the document without gaps. */
function nestHeadings(content: DocumentFragment, under: number): void {
  let last = under;
  for (const heading of content.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const level = Math.min(LOWEST_HEADING, under + Number(heading.tagName[1]), last + 1);
    const nested = document.createElement(`h${level}`);
    nested.append(...heading.childNodes);
    heading.replaceWith(nested);
    last = level;
  }
}
