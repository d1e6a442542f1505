// SPDX-License-Identifier: Apache-2.0
// The box beside the pointer that tells what is under it.

import {element, fill} from "./dom.js";

export class Tip {
  constructor() {
    this.root = element("div.tip", {"aria-hidden": "true", hidden: true});
    document.body.append(this.root);
  }

  show(event, ...content) {
    fill(this.root, content);
    this.root.hidden = false;
    const {offsetWidth: width, offsetHeight: height} = this.root;
    const x = event.clientX + 14 + width > innerWidth ? event.clientX - 14 - width : event.clientX + 14;
    const y = event.clientY + 14 + height > innerHeight ? event.clientY - 14 - height : event.clientY + 14;
    this.root.style.setProperty("left", `${Math.max(4, x)}px`);
    this.root.style.setProperty("top", `${Math.max(4, y)}px`);
  }

  hide() {
    this.root.hidden = true;
  }

  close() {
    this.root.remove();
  }
}
