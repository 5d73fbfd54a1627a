import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { SidePanel } from '../../peek/side-panel.tsx';
import type { KeyedEntry } from './entries.ts';
import { Level } from './level.tsx';

/** A log entry with its whole message and context. */
export function EntryPanel({ entry, onClose }: { entry: KeyedEntry; onClose: () => void }) {
  const { key: _, ...line } = entry;
  const { context } = line;
  return (
    <SidePanel title={`Log entry of ${entry.agent}`} onClose={onClose}>
      <NamedValues
        facts={[
          ['Time', <When key="time" at={entry.timestamp} as="time" />],
          ['Age', <When key="age" at={entry.timestamp} />],
          ['Level', <Level key="level" level={entry.level} />],
        ]}
      />
      <p className={layout.text}>{entry.msg}</p>
      {Object.keys(context).length > 0 && (
        <ScrolledText className={layout.code}>{JSON.stringify(context, null, 2)}</ScrolledText>
      )}
      <p className={layout.row}>
        <CopyButton text={JSON.stringify(line)} what="line as JSON" />
        <span className={layout.muted}>Copy the line as JSON</span>
      </p>
    </SidePanel>
  );
}
