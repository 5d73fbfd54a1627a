import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { SidePanel } from '../../peek/side-panel.tsx';
import { Subject } from './columns.tsx';
import { type PipelineEvent, typeLabel } from './event-types.ts';

/** An event with its whole payload. */
export function EventPanel({ event, onClose }: { event: PipelineEvent; onClose: () => void }) {
  return (
    <SidePanel title={typeLabel(event.eventType)} onClose={onClose}>
      <NamedValues
        facts={[
          ['Subject', <Subject key="subject" event={event} />],
          ['Time', <When key="time" at={event.createdAt} as="second" />],
          ['Age', <When key="age" at={event.createdAt} />],
          ['Agent', event.agent],
          ['Id', event.id],
        ]}
      />
      <ScrolledText className={layout.code}>{JSON.stringify(event.payload, null, 2)}</ScrolledText>
      <p className={layout.row}>
        <CopyButton text={JSON.stringify(event)} what="event as JSON" />
        <span className={layout.muted}>Copy the event as JSON</span>
      </p>
    </SidePanel>
  );
}
