import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { SidePanel } from '../../peek/side-panel.tsx';
import { type AuditEntry, Target } from './columns.tsx';

/** An action with its whole reason and details. */
export function AuditPanel({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const { action, actor, actorType, at, reason, details } = entry;
  return (
    <SidePanel title={action} onClose={onClose}>
      <NamedValues
        facts={[
          ['Who', `${actor} (${actorType})`],
          ['On', <Target key="target" entry={entry} />],
          ['Time', <When key="time" at={at} as="second" />],
          ['Age', <When key="age" at={at} />],
        ]}
      />
      <p className={layout.text}>{reason ?? 'No reason was given.'}</p>
      {Object.keys(details).length > 0 && (
        <ScrolledText className={layout.code}>{JSON.stringify(details, null, 2)}</ScrolledText>
      )}
      <p className={layout.row}>
        <CopyButton text={JSON.stringify(entry)} what="entry as JSON" />
        <span className={layout.muted}>Copy the entry as JSON</span>
      </p>
    </SidePanel>
  );
}
