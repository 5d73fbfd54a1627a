import { Panel as BasicPanel, type PanelProps } from '@pipeline/web/page/panel.tsx';
import { isOutdated } from '../stream/live-state.ts';
import { useLive } from '../stream/use-live.ts';
import { DefinitionTip } from './definition-tip.tsx';

interface LivePanelProps extends Omit<PanelProps, 'tip' | 'isOutdated'> {
  /** Metrics whose definitions the tip beside the title shows. */
  metrics?: readonly string[];
}

/** A panel whose data is kept up to date by the stream; it greys while the stream is cut. */
export function Panel({ metrics = [], ...props }: LivePanelProps) {
  const { state } = useLive();
  const tip = metrics.length > 0 && <DefinitionTip ids={metrics} />;
  return <BasicPanel {...props} tip={tip} isOutdated={isOutdated(state)} />;
}
