import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import layout from '@pipeline/web/page/layout.module.css';

interface Evidence {
  kind: string;
  text: string;
  url?: string | null;
  summary?: string | null;
}

/** Agents write addresses: only those of the web become links. */
const isWeb = (url: string): boolean => /^https?:\/\//i.test(url);

/** Evidence of a finding or an item. */
export function EvidenceList({ evidence }: { evidence: readonly Evidence[] }) {
  return (
    <ul className={layout.list}>
      {evidence.map(({ kind, text, url, summary }, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: evidence has no identity but its place.
        <li key={place} className={layout.item}>
          <div className={layout.row}>
            <span className={layout.muted}>{kind}</span>
            {url && isWeb(url) ? (
              <a href={url} rel="noopener noreferrer" target="_blank">
                {text || url}
              </a>
            ) : (
              <code>{text || url}</code>
            )}
            {text && <CopyButton text={text} what={`evidence ${place + 1}`} />}
          </div>
          {summary && <p className={layout.text}>{summary}</p>}
        </li>
      ))}
    </ul>
  );
}
