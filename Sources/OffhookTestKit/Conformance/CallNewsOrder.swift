internal import Offhook

/// The order of news that apps may rely on, and what broke it.
struct CallNewsOrder: Sendable {
    /// One rule.
    enum Rule: String, CaseIterable, Sendable {
        case incomingFirst = "incoming first"
        case establishedOnce = "established once"
        case establishedBeforeVideo = "established before video"
        case wholeList = "whole list"
        case toldRequests = "told requests"
        case failureBeforeEnd = "failure before end"
        case endsOnce = "ends once"
        case endIsLast = "end is last"
        case removedAfterEnd = "removed after end"
        case alone = "one at a time"
        case queue = "callback queue"

        var sentence: String {
            switch self {
            case .incomingFirst: "An incoming call is told of before any news of it."
            case .establishedOnce: "A call is established once at most."
            case .establishedBeforeVideo: "A call is established before its video lines are told, early media aside."
            case .wholeList: "Video lines are told as a whole list, which no line ever leaves."
            case .toldRequests: "A request for video runs out or is withdrawn only when it was told."
            case .failureBeforeEnd: "A call that ends by a failure has told it."
            case .endsOnce: "A call ends once."
            case .endIsLast: "The end is the last news of a call."
            case .removedAfterEnd: "A call is removed once, after its end."
            case .alone: "News comes one at a time."
            case .queue: "News comes on the callback queue."
            }
        }
    }

    private struct Record: Sendable {
        var isEstablished = false
        var hasEarlyMedia = false
        var hasFailed = false
        var isAskedForVideo = false
        var hasEnded = false
        var isRemoved = false
        var channels: Set<VideoChannel.ID> = []
    }

    private var records: [Call.ID: Record] = [:]
    private(set) var violations: [Rule: [String]] = [:]

    mutating func add(_ violation: String, to rule: Rule) {
        violations[rule, default: []].append(violation)
    }

    mutating func receiveIncoming(_ call: Call.ID) {
        if records[call] != nil { add("\(call) had news before", to: .incomingFirst) }
        records[call, default: Record()] = records[call] ?? Record()
    }

    mutating func receiveRemoval(of call: Call.ID) {
        var record = records[call] ?? Record()
        // Who began to watch a call late may have missed its end, but not a call without any news.
        if records[call] != nil, !record.hasEnded { add("\(call) had not ended", to: .removedAfterEnd) }
        if record.isRemoved { add("\(call) was removed twice", to: .removedAfterEnd) }
        record.isRemoved = true
        records[call] = record
    }

    mutating func receive(_ news: CallNews, of call: Call.ID) {
        var record = records[call] ?? Record()
        if record.hasEnded {
            if case .didEnd = news {
                add("\(call) ended again", to: .endsOnce)
            } else {
                add("\(news.name) of \(call) came later", to: .endIsLast)
            }
        }
        check(news, of: call, &record)
        records[call] = record
    }

    private mutating func check(_ news: CallNews, of call: Call.ID, _ record: inout Record) {
        switch news {
        case .didBeginRemoteAlerting(hasEarlyMedia: true):
            record.hasEarlyMedia = true
        case .didEstablish:
            if record.isEstablished { add("\(call) was again", to: .establishedOnce) }
            record.isEstablished = true
        case .didUpdateVideoChannels(let channels):
            if !record.isEstablished, !record.hasEarlyMedia { add("\(call) was not", to: .establishedBeforeVideo) }
            let ids = Set(channels.map(\.id))
            if ids.count < channels.count { add("\(call) had a line twice", to: .wholeList) }
            for missing in record.channels.subtracting(ids) { add("\(missing) of \(call) is missing", to: .wholeList) }
            record.channels.formUnion(ids)
        case .didReceiveVideoAddRequest:
            record.isAskedForVideo = true
        case .didTimeoutVideoAddRequest, .didWithdrawVideoAddRequest:
            if !record.isAskedForVideo { add("\(news.name) of \(call) had none", to: .toldRequests) }
            record.isAskedForVideo = false
        case .didAcceptVideoAddRequest, .didDenyVideoAddRequest:
            // A policy accepts and denies without a question.
            record.isAskedForVideo = false
        case .didFail:
            record.hasFailed = true
        case .didEnd(let reason):
            if reason.error != nil, !record.hasFailed { add("\(call) told none", to: .failureBeforeEnd) }
            record.hasEnded = true
        case .didStart, .didBeginRemoteAlerting, .didChangeSecurity, .didQueue, .didRedirect, .didHold, .didUnhold,
            .didHoldRemotely,
            .didUnholdRemotely, .didChangeAllowedVideoDirection, .didChangeRemoteAddress, .didChangeCapabilities,
            .didMuteAudio, .didReceiveDTMF, .didIgnore, .didDeny, .didReceiveTransferRequest, .didProgressTransfer,
            .didChangeMediaFlow, .didLoseSignaling, .didRecoverSignaling:
            break
        }
    }
}

extension CallNews {
    /// The case's name, as in `didEstablish`.
    var name: String {
        String(String(describing: self).prefix { $0 != "(" })
    }
}
