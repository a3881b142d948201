"""Styles of all pages: compact, fit for a phone, and light on paper."""

import streamlit.components.v2 as components

from pages._shared import colours

_WIDE = 960
"""Width in pixels that fits between the margins of A4 and of Letter, in landscape."""
_PRINTED = components.component(
    "printed",
    # This component itself is not printed.
    isolate_styles=False,
    css="""
    [data-testid=stMainBlockContainer] {
      padding-bottom: 0.5rem !important;
      > [data-testid=stVerticalBlock] { gap: 0.75rem; }
      h1 { padding-top: 0.75rem; }
    }
    .st-key-_tabs [data-testid=stPageLink] p { overflow: hidden; text-overflow: ellipsis; }
    [data-testid=stExpandSidebarButton]::after { content: "Menu"; margin-left: 0.25rem; }
    [data-printed=dark] [data-testid=stButtonGroup] button[data-selected=true] { color: #5ab0f0; }
    [data-testid=stSelectbox] input { text-overflow: ellipsis; }
    /* Keys as on Judge. */
    button kbd { padding: 0 0.3rem !important; border: 1px solid; border-radius: 0.2rem; }
    /* A click on an empty place and a key would frame the whole page. */
    [data-testid=stMain]::before { box-shadow: none !important; }
    @media (max-width: 600px) { .st-key-_query { min-width: 100%; order: -1; } }
    @media (hover: none) {
      button kbd { display: none !important; }
      /* A touch screen always shows a table's toolbar, above the table. */
      [data-testid=stElementContainer]:has([data-testid=stDataFrame]) { margin-top: 2.25rem; }
    }
    @media (max-width: 900px) {
      [data-testid=stTopNavLink] { padding: 0 3.5px !important; }
      [data-testid=stTopNav] { gap: 1px !important; }
    }
    @media print {
      @page { size: landscape; margin: 12mm; }
      html, body, .stApp { background: #ffffff !important; }
      [data-testid=stHeader], [data-testid=stSidebar], [data-testid=stToolbar],
      [data-testid=stStatusWidget], [data-testid=stButton], [data-testid=stDownloadButton],
      [data-testid=stPopover], [data-testid=stPageLink], [data-testid=stTooltipIcon],
      [data-testid=stFileUploader], .st-key-_about_row,
      [data-testid=stExpander]:not(:has(details[open])) {
        display: none !important;
      }
      [data-testid=stMainBlockContainer] { padding: 0 !important; max-width: none !important; }
      [data-testid=stPlotlyChart], [data-testid=stDataFrame] {
        break-inside: avoid; zoom: var(--printed, 1);
      }
      [data-testid=stElementContainer]:has([data-testid=stPlotlyChart]),
      [data-testid=stHeading], tr { break-inside: avoid; }
      [data-testid=stHeading] { break-after: avoid; }
      [data-printed=dark] [data-testid=stPlotlyChart], [data-printed=dark] canvas {
        filter: invert(1) hue-rotate(180deg) brightness(1.1);
      }
      [data-printed=dark] .stApp :not(svg *, canvas, mark, [style*="color:"]) {
        color: #0f141a !important;
        background-color: transparent !important;
        border-color: #d5dae0 !important;
      }
    }
    """,
    js="""
    export default function ({ data }) {
      const root = document.documentElement;
      root.dataset.printed = data.theme;
      // A figure keeps the pixels that it has on the screen.
      const fit = () => {
        const main = document.querySelector("[data-testid=stMainBlockContainer]");
        const style = getComputedStyle(main);
        const wide = main.clientWidth - parseFloat(style.paddingLeft)
          - parseFloat(style.paddingRight);
        root.style.setProperty("--printed", Math.min(1, data.wide / wide));
      };
      // Streamlit leaves the menu of a narrow screen open over the chosen page.
      const close = ({ target }) => {
        if (target.closest?.("[data-testid=stSidebarNavLink]"))
          document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
      };
      window.addEventListener("beforeprint", fit);
      document.addEventListener("click", close);
      return () => {
        window.removeEventListener("beforeprint", fit);
        document.removeEventListener("click", close);
      };
    }
    """,
)


def printable() -> None:
    """Make the page print in light colours and complete, without controls that need clicks."""
    _PRINTED(data={"theme": colours.theme(), "wide": _WIDE}, key="_printed")
