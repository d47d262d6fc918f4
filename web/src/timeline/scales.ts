// SPDX-License-Identifier: Apache-2.0
// What each series goes from and to.
import { growScale, type Scale } from "./draw_series";
import type { Item } from "./layout";
import type { SeriesInfo, SeriesPicture } from "./types";
import { metricValue, startsAtZero } from "./units";

export class Scales {
  private readonly byId = new Map<string, Scale>();

  readonly of = (id: string): Scale | undefined => this.byId.get(id);

  grow(pictures: readonly SeriesPicture[], infos: readonly SeriesInfo[]): void {
    for (const picture of pictures) {
      const metric = infos.find(({ id }) => id === picture.id)?.metric ?? "";
      const scale = growScale(this.byId.get(picture.id), picture, startsAtZero(metric));
      if (scale) this.byId.set(picture.id, scale);
    }
  }

  // In words, for its label.
  readonly rangeOf = ({ id, leaf }: Item): string => {
    const scale = this.byId.get(id);
    if (!leaf?.series || !scale) return "";
    const { metric, kind } = leaf.series;
    const [least, most] = [scale.least, scale.most].map((value) =>
      metricValue(metric, value, kind),
    );
    return least === most ? most! : `${least} – ${most}`;
  };
}
