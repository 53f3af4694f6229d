// An app that imports Offhook has its media types and devices too.
@_exported public import OffhookBasics
@_exported public import OffhookDevices
@_exported public import OffhookMedia
